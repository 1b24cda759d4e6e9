// How many requests and frees a second the model of the caching allocator takes, on recordings of
// real programs: tidemark_allocator_bench FOLDER [RECORDING]. bench/allocator_speed.py asks it.
#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#include "tests/support/allocator_recording.h"
#include "tidemark/engine/allocator/caching_allocator.h"

namespace {

using namespace tidemark;
using test::AllocatorRecording;

// A request, or the number of the request whose block is freed.
struct Step {
  std::int64_t bytes = 0;
  std::uint32_t stream = 0;
  std::size_t freed = 0;
};

// What is alive at the end is freed there, so that the next round begins as the first.
std::vector<Step> steps_of(const AllocatorRecording& recording) {
  std::vector<Step> steps;
  std::vector<bool> is_alive;
  for (const test::RecordedEvent& event : recording.events) {
    if (event.kind == '+') {
      steps.push_back({event.number, event.stream, 0});
      is_alive.push_back(true);
    } else if (event.kind == '-' || event.kind == '~') {
      const std::size_t freed = is_alive.size() - 1 - static_cast<std::size_t>(event.number);
      steps.push_back({0, 0, freed});
      is_alive[freed] = false;
    }
  }
  for (std::size_t i = 0; i < is_alive.size(); ++i)
    if (is_alive[i]) steps.push_back({0, 0, i});
  return steps;
}

double events_a_second(const AllocatorRecording& recording) {
  constexpr int kRounds = 200;
  const std::vector<Step> steps = steps_of(recording);
  AllocatorOptions options;
  options.settings = parse_allocator_settings(recording.settings);
  CachingAllocator model(options);
  std::vector<BlockId> blocks(steps.size());
  const auto start = std::chrono::steady_clock::now();
  for (int round = 0; round < kRounds; ++round) {
    std::size_t requests = 0;
    for (const Step& step : steps) {
      if (step.bytes > 0) blocks[requests++] = model.malloc(step.bytes, step.stream);
      else model.free(blocks[step.freed]);
    }
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  return static_cast<double>(steps.size()) * kRounds / taken.count();
}

}  // namespace

int main(int count, char** words) {
  if (count < 2) {
    std::cerr << "usage: tidemark_allocator_bench FOLDER [RECORDING]\n";
    return 2;
  }
  for (const AllocatorRecording& recording : test::read_allocator_recordings(words[1])) {
    if (count > 2 && recording.name != words[2]) continue;
    double best = 0;
    for (int i = 0; i < 5; ++i) best = std::max(best, events_a_second(recording));
    std::cout << recording.name << " " << static_cast<std::int64_t>(best) << "\n";
  }
  return 0;
}

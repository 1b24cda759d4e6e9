// Reads recordings: a head of facts, then one word an event.
#include "tests/support/allocator_recording.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace tidemark::test {
namespace {

constexpr std::int64_t kPage = std::int64_t{2} << 20;

// The number after a mark, if the word has one.
std::optional<std::int64_t> number_after(const std::string& word, char mark) {
  const std::size_t at = word.find(mark);
  if (at == std::string::npos) return std::nullopt;
  return std::stoll(word.substr(at + 1));
}

SegmentAction action_of(char letter) {
  switch (letter) {
    case 'S': return SegmentAction::Alloc;
    case 'F': return SegmentAction::Free;
    case 'M': return SegmentAction::Map;
    default: return SegmentAction::Unmap;
  }
}

RecordedEvent event_of(const std::string& word) {
  RecordedEvent event;
  event.kind = word[0];
  if (event.kind == 'E') return event;
  event.number = std::stoll(word.substr(1));
  event.stream = static_cast<std::uint32_t>(number_after(word, '@').value_or(0));
  event.pool = static_cast<PoolId>(number_after(word, '/').value_or(0));
  const auto blocks = number_after(word, '=');
  event.block_bytes =
      blocks ? *blocks * 512 : std::max<std::int64_t>((event.number + 511) / 512, 1) * 512;
  if (const auto pages = number_after(word, ':'))
    event.segment = {action_of(event.kind), event.number * kPage, *pages * kPage, event.stream};
  return event;
}

void read_final(std::istringstream& line, AllocatorRecording& recording) {
  std::string name;
  for (line >> name; line;) {
    std::vector<std::int64_t>& numbers = recording.final[name];
    for (std::int64_t number; line >> number;) numbers.push_back(number);
    line.clear();
    if (!(line >> name)) return;
  }
}

void read_head(std::ifstream& file, AllocatorRecording& recording) {
  for (std::string text; std::getline(file, text) && text != "events";) {
    std::istringstream line(text);
    std::string key;
    line >> key;
    std::int64_t number = 0;
    if (key == "settings") line >> recording.settings;
    else if (key == "device") line >> recording.device_bytes;
    else if (key == "limit" && line >> number) recording.limit_bytes = number;
    else if (key == "places") line >> recording.places;
    else if (key == "final") read_final(line, recording);
  }
}

}  // namespace

std::vector<AllocatorRecording> read_allocator_recordings(const std::string& folder) {
  std::vector<AllocatorRecording> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    std::ifstream file(entry.path());
    AllocatorRecording recording;
    recording.name = entry.path().stem().string();
    read_head(file, recording);
    for (std::string word; file >> word;) recording.events.push_back(event_of(word));
    all.push_back(std::move(recording));
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return all;
}

}  // namespace tidemark::test

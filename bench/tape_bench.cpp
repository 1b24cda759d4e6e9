// Costs of the tape as ratios to one plain pass over its columns, all in one run.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "bench/synthetic_tape.h"
#include "tidemark/engine/analyses/leaks.h"
#include "tidemark/engine/analyses/lifetimes.h"
#include "tidemark/engine/analyses/overview.h"
#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/engine/replay/scope_spans.h"
#include "tidemark/engine/replay/verify.h"
#include "tidemark/engine/tape/file_writer.h"
#include "tidemark/engine/tape/open.h"
#ifdef TIDEMARK_HAS_ZSTD
#include "tidemark/readers/zstd/zstd_codec.h"
#endif

namespace {

using namespace tidemark;
using namespace tidemark::bench;

constexpr int kRepeats = 9;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

double elapsed_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

using Clock = double (*)();

// Seconds of the processor unless told: what others do on the machine does not count. Where threads
// share the work, what it takes is what elapses, and that needs a machine that does nothing else.
double seconds_of(const std::function<void()>& work, Clock clock = processor_seconds) {
  const double start = clock();
  work();
  return clock() - start;
}

volatile std::uint64_t g_sink;  // keeps the compiler from dropping the work

void plain_pass(const Tape& tape) {
  std::uint64_t sum = 0;
  tape.events().for_each_column([&](const char*, auto values) {
    sum = std::accumulate(values.begin(), values.end(), sum, [](std::uint64_t s, auto v) {
      return s + static_cast<std::uint64_t>(v);
    });
  });
  g_sink = sum;
}

// Every scope's peak, as the analysis of scopes has it.
struct ScopePeaks {
  static constexpr Needs kNeeds = ScopeSpans::kNeeds;
  ScopeSpans spans;
  std::vector<std::int64_t> peaks;

  void see(const Event& e, const Change& change, const Replay& replay) {
    if (const ScopeSpan* span = spans.look(e, change, replay))
      for (const DeviceSpan& d : span->devices)
        peaks[span->scope.value] = std::max(peaks[span->scope.value], d.peak.allocated);
  }
};

void replay_all(const Tape& tape) {
  Replay replay(tape.tables());
  ScopePeaks found{{}, std::vector<std::int64_t>(tape.tables().scopes().size())};
  replay.add_all(tape, found);
  g_sink = static_cast<std::uint64_t>(
      std::accumulate(found.peaks.begin(), found.peaks.end(), std::int64_t{0}));
}

// What one work took: in seconds, and in plain passes of the same moment. A machine that is fast
// now and slow then, as virtual ones are, shows in the first and not in the second.
struct Rounds {
  std::vector<double> seconds;
  std::vector<double> passes;

  void measure(const Tape& tape, const std::function<void()>& work,
               Clock clock = processor_seconds) {
    const double plain = seconds_of([&] { plain_pass(tape); }, clock);
    seconds.push_back(seconds_of(work, clock));
    passes.push_back(seconds.back() / plain);
  }
};

class Table {
 public:
  Table(const std::string& title, const Tape& tape) : tape_(tape) {
    std::printf("\n%s\n", title.c_str());
    std::printf("  %-38s %9s %10s %9s\n", "", "seconds", "ns/event", "passes");
  }

  void row(const char* name, const std::function<void()>& work, const char* aim = "",
           int rounds = kRepeats, Clock clock = processor_seconds) const {
    Rounds found;
    for (int i = 0; i < rounds; ++i) found.measure(tape_, work, clock);
    row(name, found, aim);
  }
  void row(const char* name, const Rounds& found, const char* aim = "") const {
    const double seconds = median(found.seconds);
    std::printf("  %-38s %9.4f %10.2f %9.2f  %s\n", name, seconds,
                seconds / static_cast<double>(tape_.size()) * 1e9, median(found.passes), aim);
    std::fflush(stdout);
  }

 private:
  const Tape& tape_;
};

std::string temporary_path(const char* name) {
  return (std::filesystem::temp_directory_path() / name).string();
}

void write_file(const Tape& tape, const std::string& path, const Codec* codec) {
  FileSink sink(path);
  write_tape(tape, sink, codec);
}

// What the system alone takes: a file's bytes into new memory, nothing checked. No reader that
// keeps what it read can be faster.
void copy_file(const std::string& path) {
  const auto size = static_cast<std::size_t>(std::filesystem::file_size(path));
  Column<std::byte> memory;
  memory.reallocate(size);
  g_sink = FileSource(path).read({memory.data(), size});
}

void bench_whole(const SyntheticShape& shape) {
  const auto actions = plan_run(shape);
  Tape tape = build_run(shape, actions);
  const Table table(
      std::to_string(tape.size()) + " events, " + std::to_string(shape.scopes) + " scopes", tape);
  table.row("plain pass (64-bit sum of all columns)", [&] { plain_pass(tape); });
  table.row(
      "build", [&] { g_sink = build_run(shape, actions).size(); }, "", 3);
  const std::string path = temporary_path("tidemark_bench.tape");
  table.row("write, uncompressed", [&] { write_file(tape, path, nullptr); });
  const auto read = [&] { g_sink = open_tape(path).size(); };
  table.row("read, uncompressed: what elapses", read, "aim 3", kRepeats, elapsed_seconds);
  table.row("  of the processor, in two threads", read);
  table.row("  of it the system, which hands it over", [&] { copy_file(path); });
  const auto stored = std::filesystem::file_size(path);
#ifdef TIDEMARK_HAS_ZSTD
  const ZstdCodec codec;
  table.row(
      "write, zstd", [&] { write_file(tape, path, &codec); }, "", 3);
  table.row(
      "read, zstd", [&] { g_sink = open_tape(path, {&codec}).size(); }, "", 3);
  std::printf("  file: %.1f bytes/event stored, %.1f with zstd\n", double(stored) / tape.size(),
              double(std::filesystem::file_size(path)) / tape.size());
#else
  std::printf("  file: %.1f bytes/event stored\n", double(stored) / tape.size());
#endif
  table.row(
      "replay: ledger + all scope peaks", [&] { replay_all(tape); }, "aim 8");
  std::printf("  memory: %zu bytes/event (aim 40)\n", EventColumns::kBytesPerEvent);
  std::filesystem::remove(path);
}

// Every analysis, and the report that asks three of them at once, in turn.
void bench_analyses(std::size_t events) {
  const SyntheticShape shape{events};
  const Tape tape = build_run(shape, plan_run(shape));
  const Table table("Analyses of " + std::to_string(tape.size()) + " events", tape);
  OverviewOptions options;
  TimelineOptions timeline;
  timeline.columns = options.columns;
  struct Row {
    const char* name;
    std::function<void()> ask;
    Rounds found = {};
  };
  // The report right after its parts.
  constexpr std::size_t kParts = 3;
  std::array<Row, kParts + 4> rows = {
      {{"peak", [&] { g_sink = find_peak(tape).devices.size(); }},
       {"scopes", [&] { g_sink = find_scopes(tape).scopes.size(); }},
       {"timeline", [&] { g_sink = find_timeline(tape, timeline).devices.size(); }},
       {"report: these three at once", [&] { g_sink = find_overview(tape, options).events; }},
       {"lifetimes", [&] { g_sink = find_lifetimes(tape).groups.size(); }},
       {"leaks", [&] { g_sink = find_leaks(tape).sites.size(); }},
       {"verify", [&] { g_sink = verify(tape).all().size(); }}}};
  for (int i = 0; i < kRepeats; ++i)
    for (Row& row : rows) row.found.measure(tape, row.ask);
  for (const Row& row : rows) table.row(row.name, row.found);
  const auto costs_less = [](const Row& a, const Row& b) {
    return median(a.found.seconds) < median(b.found.seconds);
  };
  const Rounds& costliest =
      std::max_element(rows.begin(), rows.begin() + kParts, costs_less)->found;
  std::vector<double> ratios;
  for (int i = 0; i < kRepeats; ++i)
    ratios.push_back(rows[kParts].found.seconds[i] / costliest.seconds[i]);
  std::printf("  report against its costliest part      %9.2f  aim 1.5\n", median(ratios));
}

// Tapes that differ in one thing, replayed in turn so that a busy moment hits all alike.
void bench_scaling(std::size_t events) {
  struct Row {
    const char* name;
    SyntheticShape shape;
    Tape tape;
    double best = 1e9;
  };
  std::array<Row, 4> rows = {{{"1 000 scopes", {events}, {}},
                              {"a tenth of the events", {events / 10}, {}},
                              {"1 scope", {events, 1}, {}},
                              {"100 000 scopes", {events, 100'000}, {}}}};
  for (Row& row : rows) row.tape = build_run(row.shape, plan_run(row.shape));
  for (int i = 0; i < kRepeats; ++i)
    for (Row& row : rows)
      row.best = std::min(row.best, seconds_of([&] { replay_all(row.tape); }) / row.tape.size());
  std::printf("\nReplay, best cost an event against the first row (aim 1.3)\n");
  for (const Row& row : rows) std::printf("  %-38s %9.2f\n", row.name, row.best / rows[0].best);
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = argc > 1 && std::strcmp(argv[1], "--quick") == 0;
  const std::size_t events = quick ? 1'000'000 : 10'000'000;
  bench_whole({events});
  bench_analyses(events);
  bench_scaling(events);
}

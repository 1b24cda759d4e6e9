// Scopes: before, after and the peak inside each call, and what each module owns.
#include "tidemark/engine/analyses/scopes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <stdexcept>
#include <tuple>

#include "tests/support/written_tape.h"
#include "tidemark/engine/analyses/scope_calls.h"
#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/text_reader.h"

namespace tidemark {
namespace {

using test::cpu_tape;

const ScopeFacts& scope(const ScopesAnswer& answer, const std::string& path) {
  for (const ScopeFacts& facts : answer.scopes)
    if (facts.path == path) return facts;
  throw std::out_of_range(path);
}

std::vector<std::string> paths(const ScopesAnswer& answer) {
  std::vector<std::string> result;
  for (const ScopeFacts& facts : answer.scopes) result.push_back(facts.path);
  return result;
}

TEST(Scopes, ACallHasBytesBeforeAfterAndAtItsPeak) {
  const auto answer =
      find_scopes(cpu_tape("alloc w 10 Parameter\n"                       // event 0
                           "begin fc phase=forward\n"                     // event 1: 10
                           "alloc x 5 Activation\nalloc t 3 Temporary\n"  // event 3: 18
                           "free t\nend fc phase=forward\n"));            // event 5: 15
  const ScopeCalls& forward = scope(answer, "fc").phases.at(0);
  EXPECT_EQ(forward.phase, Phase::Forward);
  EXPECT_EQ(forward.calls, 1);
  EXPECT_EQ(forward.first_event, 1);
  EXPECT_EQ(forward.last_event, 5);
  const ScopeBytes& bytes = forward.devices.at(0);
  EXPECT_EQ(bytes.device, "cpu");
  EXPECT_EQ(bytes.before, 10);
  EXPECT_EQ(bytes.after, 15);
  EXPECT_EQ(bytes.grown, 5);
  EXPECT_EQ(bytes.peak, 18);
  EXPECT_EQ(bytes.peak_event, 3);
  EXPECT_EQ(bytes.peak_categories[static_cast<std::size_t>(Category::Temporary)], 3);
  EXPECT_EQ(bytes.peak_categories[static_cast<std::size_t>(Category::Parameter)], 10);
}

TEST(Scopes, APeakBeforeTheCallIsNotItsOwn) {
  const auto answer = find_scopes(cpu_tape("alloc big 100\nfree big\nalloc a 1\nbegin m\nend m\n"));
  EXPECT_EQ(scope(answer, "m").phases.at(0).devices.at(0).peak, 1);
}

TEST(Scopes, AParentMayEndBeforeItsChild) {
  const auto answer =
      find_scopes(cpu_tape("begin p\nalloc a 5\nbegin p.c\nalloc b 2\nend p\n"  // p: up to 7
                           "alloc d 20\nfree d\nend p.c\n"));                   // p.c: up to 27
  EXPECT_EQ(scope(answer, "p").phases.at(0).devices.at(0).peak, 7);
  EXPECT_EQ(scope(answer, "p.c").phases.at(0).devices.at(0).before, 5);
  EXPECT_EQ(scope(answer, "p.c").phases.at(0).devices.at(0).peak, 27);
  EXPECT_TRUE(answer.diagnostics.empty());
}

TEST(Scopes, CallsAreSummedByPhaseInTheOrderOfAStep) {
  const auto answer = find_scopes(
      cpu_tape("phase backward\nbegin m\nalloc g 4\nend m\n"             // 0 to 4
               "phase other\nbegin m\nend m\n"                           // 4 to 4
               "phase forward\nbegin m\nalloc a 3\nend m\n"              // 4 to 7
               "begin m\nalloc b 9\nfree b\nfree a\nfree g\nend m\n"));  // 7 to 0, up to 16
  const auto& phases = scope(answer, "m").phases;
  ASSERT_EQ(phases.size(), 3u);
  EXPECT_EQ(phases[0].phase, Phase::Forward);
  EXPECT_EQ(phases[1].phase, Phase::Backward);
  EXPECT_EQ(phases[2].phase, Phase::Other);
  EXPECT_EQ(phases[0].calls, 2);
  EXPECT_EQ(phases[0].devices.at(0).before, 4);
  EXPECT_EQ(phases[0].devices.at(0).after, 0);
  EXPECT_EQ(phases[0].devices.at(0).grown, 3 - 7);
  EXPECT_EQ(phases[0].devices.at(0).peak, 16);
  EXPECT_TRUE(scope(answer, "m").calls.empty());
}

TEST(Scopes, SingleCallsAreListedWhenAskedFor) {
  ScopesOptions options;
  options.per_call = true;
  const auto answer =
      find_scopes(cpu_tape("begin m\nalloc a 1\nend m\nbegin m\nalloc b 2\nend m\n"), options);
  const auto& calls = scope(answer, "m").calls;
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].first_call, 1);
  EXPECT_EQ(calls[1].first_call, 2);
  EXPECT_EQ(calls[1].calls, 1);
  EXPECT_EQ(calls[1].devices.at(0).before, 1);
  EXPECT_EQ(calls[1].devices.at(0).peak, 3);
}

TEST(Scopes, ARecursiveCallBeginsFirstAndEndsLast) {
  const auto answer = find_scopes(
      cpu_tape("alloc a 1\nbegin m\nalloc b 2\nbegin m\nalloc c 4\nend m\nfree c\nend m\n"));
  const ScopeCalls& both = scope(answer, "m").phases.at(0);
  EXPECT_EQ(both.calls, 2);
  EXPECT_EQ(both.first_event, 1);
  EXPECT_EQ(both.devices.at(0).before, 1);  // of the outer call, though the inner ends first
  EXPECT_EQ(both.devices.at(0).after, 3);
  EXPECT_EQ(both.devices.at(0).grown, (7 - 3) + (3 - 1));
}

TEST(Scopes, InputsAndOutputsAreSummedInRequestedBytes) {
  const Tape tape = read_tape_text(
      "tape 1\ndevice cuda:0\nalloc x 100\nbegin m\ninput x\nalloc y 60\noutput y\nend m\n"
      "begin m\ninput y\nend m\n");
  const ScopeCalls calls = scope(find_scopes(tape), "m").phases.at(0);
  EXPECT_EQ(calls.input_bytes, 160);
  EXPECT_EQ(calls.output_bytes, 60);
}

TEST(Scopes, AreListedParentsFirstAndInNaturalOrder) {
  const auto answer =
      find_scopes(cpu_tape("begin layers.10.fc\nend layers.10.fc\nbegin layers.2\nend layers.2\n"
                           "begin layers-x\nend layers-x\nbegin head\nend head\nbegin layers.10\n"
                           "end layers.10\nalloc nowhere 1 Activation scope=never.called\n"));
  EXPECT_EQ(paths(answer), (std::vector<std::string>{"head", "layers", "layers.2", "layers.10",
                                                     "layers.10.fc", "layers-x"}));
  EXPECT_TRUE(scope(answer, "layers").phases.empty());  // only what is below it was called
  EXPECT_EQ(scope(answer, "layers.10.fc").depth, 3u);
  EXPECT_EQ(scope(answer, "head").depth, 1u);
}

TEST(Scopes, DepthLeavesOutWhatIsDeeper) {
  ScopesOptions options;
  options.depth = 2;
  const auto answer =
      find_scopes(cpu_tape("begin a.b.c\nalloc w 8 Parameter\nend a.b.c\n"), options);
  EXPECT_EQ(paths(answer), (std::vector<std::string>{"a", "a.b"}));
  EXPECT_EQ(scope(answer, "a").parameter_bytes, 8);
}

TEST(Scopes, ParametersBelongToTheScopeThatLabelledThemLast) {
  const auto answer = find_scopes(
      cpu_tape("alloc w 10 Parameter scope=net.a\n"
               "alloc v 20 scope=net.a\nrelabel v Parameter scope=net.b\n"
               "relabel w Parameter scope=net.b\n"     // a shared weight: counted once
               "alloc s 3 Buffer scope=net\nfree s\n"  // freed since, still the module's
               "relabel v Other scope=net.a\n"         // its last Parameter label stays
               "alloc loose 50 Parameter scope=-\n"));
  EXPECT_EQ(paths(answer), (std::vector<std::string>{"net", "net.b"}));
  EXPECT_EQ(scope(answer, "net").parameter_bytes, 30);
  EXPECT_EQ(scope(answer, "net").buffer_bytes, 3);
  EXPECT_EQ(scope(answer, "net.b").parameter_bytes, 30);
  EXPECT_EQ(scope(answer, "net.b").buffer_bytes, 0);
}

TEST(Scopes, AParameterThatIsEmptiedBetweenUsesKeepsItsSize) {
  const auto answer =
      find_scopes(cpu_tape("alloc w 0 Parameter scope=m\nresize w 64\nresize w 0\n"));
  EXPECT_EQ(scope(answer, "m").parameter_bytes, 64);
}

TEST(Scopes, AStepKeepsTheCallsThatBeginInIt) {
  ScopesOptions options;
  options.step = 2;
  const auto answer = find_scopes(cpu_tape("step\nbegin m\nalloc a 5\nend m\nbegin once\nend once\n"
                                           "step\nbegin m\nalloc b 6\nstep\nend m\n"),
                                  options);
  EXPECT_EQ(paths(answer), (std::vector<std::string>{"m"}));
  const ScopeCalls& calls = scope(answer, "m").phases.at(0);
  EXPECT_EQ(calls.calls, 1);
  EXPECT_EQ(calls.first_call, 2);
  EXPECT_EQ(calls.devices.at(0).before, 5);
  EXPECT_EQ(calls.devices.at(0).peak, 11);
}

TEST(Scopes, ADeviceThatAppearsInsideOpenScopesCountsForAllOfThem) {
  const auto answer =
      find_scopes(cpu_tape("mark start\nbegin p\nbegin q\nend q\ndevice gpu\nalloc a 40\nfree a\n"
                           "begin r\nalloc b 2\nend r\nend p\n"));
  EXPECT_EQ(scope(answer, "p").phases.at(0).devices.at(0).device, "gpu");
  EXPECT_EQ(scope(answer, "p").phases.at(0).devices.at(0).peak, 40);
  EXPECT_EQ(scope(answer, "p").phases.at(0).devices.at(0).peak_event, 4);
  EXPECT_EQ(scope(answer, "r").phases.at(0).devices.at(0).peak, 2);
  EXPECT_TRUE(scope(answer, "q").phases.at(0).devices.empty());
}

TEST(Scopes, ADeviceCanBeChosenAndAnUnknownOneIsRefused) {
  const Tape tape = cpu_tape("begin m\nalloc a 1\ndevice gpu\nalloc b 2\nend m\n");
  ScopesOptions options;
  options.device = "gpu";
  const auto answer = find_scopes(tape, options);
  ASSERT_EQ(scope(answer, "m").phases.at(0).devices.size(), 1u);
  EXPECT_EQ(scope(answer, "m").phases.at(0).devices[0].peak, 2);
  options.device = "tpu";
  EXPECT_THROW(find_scopes(tape, options), Error);
}

TEST(Scopes, AStorageBornAgainElsewhereLeavesOneDeviceForTheOther) {
  const auto answer =
      find_scopes(cpu_tape("alloc a 9\ndevice gpu\nalloc c 0\nbegin m\nalloc a 4\nend m\n"));
  const auto& devices = scope(answer, "m").phases.at(0).devices;
  ASSERT_EQ(devices.size(), 2u);
  EXPECT_EQ(devices[0].peak, 9);
  EXPECT_EQ(devices[0].after, 0);
  EXPECT_EQ(devices[1].before, 0);
  EXPECT_EQ(devices[1].peak, 4);
}

TEST(Scopes, OpenScopesAreShownAsEndingNowAndGoOn) {
  TapeBuilder builder;
  ScopesAccumulator scopes(builder.tables());
  const DeviceId cpu = builder.tables().device("cpu");
  const ScopeId outer = builder.tables().scope("m"), inner = builder.tables().scope("m.n");
  builder.begin_scope(outer);
  scopes.add(builder.last());
  builder.begin_scope(inner);
  scopes.add(builder.last());
  builder.alloc(cpu, 6);
  scopes.add(builder.last());
  for (int time = 0; time < 2; ++time) {  // asking changes nothing
    const auto answer = scopes.answer();
    EXPECT_EQ(scope(answer, "m").phases.at(0).devices.at(0).peak, 6);
    EXPECT_EQ(answer.diagnostics.find("scope-left-open")->count, 2);
    EXPECT_EQ(answer.diagnostics.find("scope-left-open")->where, "event 0");
  }
  builder.end_scope(inner);
  scopes.add(builder.last());
  builder.alloc(cpu, 5);
  scopes.add(builder.last());
  builder.end_scope(outer);
  scopes.add(builder.last());
  const auto answer = scopes.answer();
  EXPECT_TRUE(answer.diagnostics.empty());
  EXPECT_EQ(scope(answer, "m").phases.at(0).calls, 1);
  EXPECT_EQ(scope(answer, "m").phases.at(0).devices.at(0).peak, 11);
  EXPECT_EQ(scope(answer, "m.n").phases.at(0).devices.at(0).peak, 6);
}

TEST(Scopes, AnEndMeansTheCallThatBeganInItsPhase) {
  // A checkpointed module is recomputed while its own backward is open.
  const auto answer =
      find_scopes(cpu_tape("begin m phase=backward\nalloc a 1\nbegin m phase=recompute\nalloc b 2\n"
                           "end m phase=backward\nalloc c 4\nend m phase=recompute\n"));
  const auto& phases = scope(answer, "m").phases;
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[0].phase, Phase::Backward);
  EXPECT_EQ(phases[0].devices.at(0).after, 3);
  EXPECT_EQ(phases[1].devices.at(0).before, 1);
  EXPECT_EQ(phases[1].devices.at(0).after, 7);
}

TEST(Scopes, IrregularScopesGiveDiagnosticsAndAnAnswer) {
  const auto answer = find_scopes(
      cpu_tape("begin m\nalloc a 1\nend m\nend m\nend never\nbegin open\nfree a\nfree a\n"));
  EXPECT_EQ(answer.diagnostics.find("scope-not-open")->count, 2);
  EXPECT_EQ(answer.diagnostics.find("scope-left-open")->count, 1);
  EXPECT_EQ(answer.diagnostics.find("double-free")->count, 1);
  EXPECT_EQ(scope(answer, "open").phases.at(0).devices.at(0).after, 0);
  EXPECT_EQ(scope(answer, "open").phases.at(0).devices.at(0).peak, 1);
}

using Levels = std::array<std::int64_t, 2>;                                     // of cpu and gpu
using Numbers = std::map<std::string, std::vector<std::vector<std::int64_t>>>;  // calls by scope

// A random run and what its calls see, the slow way: every open call watches every event.
class WatchedRun {
 public:
  explicit WatchedRun(unsigned seed) : random_(seed) {
    for (int i = 0; i < 150; ++i) {
      switch (random_() % 5) {
        case 0: begin(); break;
        case 1: end(); break;
        case 2: free(); break;
        default: alloc(); break;
      }
      for (Call& call : open_)
        for (std::size_t d = 0; d < 2; ++d) call.highest[d] = std::max(call.highest[d], level_[d]);
    }
    while (!open_.empty()) note_end(open_.end() - 1);
  }
  Tape tape() { return builder_.finish(); }
  const Numbers& expected() const { return expected_; }

 private:
  struct Call {
    std::string path;
    Phase phase = Phase::Other;
    Levels before, highest;
  };
  std::string random_path() { return std::array{"a", "b", "a.c"}[random_() % 3]; }
  Phase random_phase() { return random_() % 2 ? Phase::Forward : Phase::Backward; }

  void begin() {
    open_.push_back({random_path(), random_phase(), level_, level_});
    builder_.begin_scope(builder_.tables().scope(open_.back().path), {.phase = open_.back().phase});
  }
  void end() {  // the newest call of its phase
    const std::string path = random_path();
    const Phase phase = random_phase();
    const auto its = std::find_if(open_.rbegin(), open_.rend(), [&](const Call& call) {
      return call.path == path && call.phase == phase;
    });
    if (its == open_.rend()) return;
    builder_.end_scope(builder_.tables().scope(path), {.phase = phase});
    note_end(std::next(its).base());
  }
  void note_end(std::vector<Call>::iterator call) {
    expected_[call->path].push_back({call->before[0], level_[0], call->highest[0], call->before[1],
                                     level_[1], call->highest[1]});
    open_.erase(call);
  }
  void free() {
    if (alive_.empty()) return;
    const auto [storage, device, bytes] = alive_.back();
    alive_.pop_back();
    builder_.free(storage);
    level_[device] -= bytes;
  }
  void alloc() {
    const std::size_t device = random_() % 2;
    const std::int64_t bytes = random_() % 50;
    const DeviceId id = builder_.tables().device(device == 0 ? "cpu" : "gpu");
    alive_.emplace_back(builder_.alloc(id, bytes), device, bytes);
    level_[device] += bytes;
  }

  std::mt19937 random_;
  TapeBuilder builder_;
  std::vector<Call> open_;
  Levels level_{};
  std::vector<std::tuple<StorageId, std::size_t, std::int64_t>> alive_;
  Numbers expected_;
};

std::vector<std::int64_t> numbers_of(const ScopeCalls& call) {
  std::vector<std::int64_t> numbers(6);  // before, after and peak of both devices
  for (const ScopeBytes& bytes : call.devices) {
    const std::size_t at = bytes.device == "cpu" ? 0 : 3;
    numbers[at] = bytes.before;
    numbers[at + 1] = bytes.after;
    numbers[at + 2] = bytes.peak;
  }
  return numbers;
}

TEST(Scopes, ThePeakInsideACallIsTheHighestThatAWatcherSees) {
  for (unsigned seed = 1; seed <= 100; ++seed) {
    WatchedRun run(seed);
    ScopesOptions options;
    options.per_call = true;
    Numbers found;
    for (const ScopeFacts& facts : find_scopes(run.tape(), options).scopes)
      for (const ScopeCalls& call : facts.calls) found[facts.path].push_back(numbers_of(call));
    EXPECT_EQ(found, run.expected()) << "seed " << seed;
  }
}

TEST(Scopes, ManyScopesLeftOpenEndInLittleTime) {
  TapeBuilder builder;
  for (int i = 0; i < 20'000; ++i)
    builder.begin_scope(builder.tables().scope("s" + std::to_string(i)));
  const auto answer = find_scopes(builder.finish());
  EXPECT_EQ(answer.scopes.size(), 20'000u);
  EXPECT_EQ(answer.diagnostics.find("scope-left-open")->count, 20'000);
}

TEST(Scopes, OfEqualPeaksTheFirstIsTold) {
  // 10 is there from event 1 on; an empty call of another scope follows it.
  const auto answer = find_scopes(cpu_tape("begin m\nalloc a 10\nbegin c\nend c\nfree a\nend m\n"));
  EXPECT_EQ(scope(answer, "m").phases.at(0).devices.at(0).peak_event, 1);
}

TEST(Scopes, OfEqualPeaksOfSeveralCallsTheFirstIsToldThoughItsCallEndsLast) {
  // The outer call is at 10 at event 1, the inner one at event 4; the inner one ends first.
  const auto answer =
      find_scopes(cpu_tape("begin m\nalloc a 10\nfree a\nbegin m\nalloc b 10\nend m\nend m\n"));
  EXPECT_EQ(scope(answer, "m").phases.at(0).devices.at(0).peak_event, 1);
}

TEST(Scopes, ADeviceThatIsEmptyInTheLastCallWasNotAfterIt) {
  const auto answer =
      find_scopes(cpu_tape("begin m\nalloc a 10\nend m\nfree a\nalloc x 0\nbegin m\nend m\n"));
  const ScopeBytes& bytes = scope(answer, "m").phases.at(0).devices.at(0);
  EXPECT_EQ(bytes.peak, 10);
  EXPECT_EQ(bytes.after, 0);
  EXPECT_EQ(bytes.grown, 10);
}

TEST(Scopes, ACallKeepsOnlyDevicesWithBytes) {
  ScopesOptions options;
  options.per_call = true;
  ScopeCallSums sums(options.step, options.per_call);
  ScopeSpan span;
  span.scope = ScopeId(0);
  span.devices = {{.device = DeviceId(200), .before = 1, .after = 2}};
  sums.add(span);
  span.devices = {{.device = DeviceId(7), .before = 3, .after = 4},
                  {.device = DeviceId(250), .before = 5, .after = 6}};
  sums.add(span);
  const ScopeRecord& record = sums.records().at(0);
  EXPECT_EQ(record.calls.at(0).devices.size(), 1u);
  EXPECT_EQ(record.calls.at(1).devices.size(), 2u);
  std::vector<unsigned> devices;
  for (const CallSum::OnDevice& one : record.phases.at(0).devices)
    devices.push_back(one.device.value);
  EXPECT_EQ(devices, (std::vector<unsigned>{7, 200, 250}));
}

TEST(Scopes, AnEmptyTapeHasNone) { EXPECT_TRUE(find_scopes(Tape()).scopes.empty()); }

}  // namespace
}  // namespace tidemark

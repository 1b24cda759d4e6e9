// Walks the tape once for each setting, and once more where memory would run out.
#include "tidemark/engine/analyses/alloc.h"

#include <algorithm>
#include <tuple>

#include "tidemark/engine/analyses/allocator_peaks.h"
#include "tidemark/engine/analyses/naming.h"
#include "tidemark/engine/analyses/run_facts.h"
#include "tidemark/engine/analyses/verdict.h"

namespace tidemark {
namespace {

constexpr const char* kUseful[] = {"",
                                   "expandable_segments:True",
                                   "max_split_size_mb:128",
                                   "max_split_size_mb:256",
                                   "max_split_size_mb:512",
                                   "roundup_power2_divisions:4",
                                   "roundup_power2_divisions:8"};

// What is gained must be worth a line in a script: this share of what is reserved without it.
constexpr std::int64_t kWorthPercent = 2;

std::vector<std::string> settings_to_compare(const RunFacts& run, const AllocOptions& options) {
  std::vector<std::string> all = {run.allocator_settings};
  const auto add = [&](const std::string& one) {
    if (std::find(all.begin(), all.end(), one) == all.end()) all.push_back(one);
  };
  for (const std::string& one : options.settings) add(one);
  if (options.settings.empty())
    for (const char* one : kUseful) add(one);
  return all;
}

class Comparison {
 public:
  Comparison(const Tape& tape, const AllocOptions& options, AllocAnswer& answer)
      : tape_(tape), options_(options), run_(find_run_facts(tape)), answer_(answer) {
    if (options.memory_bytes) run_.gpu.memory_bytes = *options.memory_bytes;
    if (run_.gpu.memory_bytes > 0)
      answer_.room_bytes =
          std::max<std::int64_t>(run_.gpu.memory_bytes - bytes_beside_allocator(run_), 0);
  }

  void compare() {
    const std::vector<std::string> all = settings_to_compare(run_, options_);
    for (std::size_t i = 0; i < all.size(); ++i) add(all[i], read(all[i], i == 0));
    for (DeviceSettings& device : answer_.devices) choose(device);
  }

 private:
  // The run's own are taken as they are; those of the caller must be right.
  AllocatorSettings read(const std::string& text, bool is_of_run) {
    return is_of_run ? settings_of(run_, answer_.diagnostics) : parse_allocator_settings(text);
  }
  AllocatorPeaks::Answer walk(const AllocatorSettings& settings, std::int64_t room) {
    AllocatorOptions options = allocator_of(run_, settings);
    options.device_bytes = room;
    return feed(tape_, AllocatorPeaks(tape_.tables(), options, options_));
  }
  void add(const std::string& text, const AllocatorSettings& settings) {
    const auto free = walk(settings, AllocatorSettings::kUnlimited);
    const bool is_over = std::any_of(free.devices.begin(), free.devices.end(), [&](const auto& d) {
      return answer_.room_bytes && d.peak.reserved_peak_bytes > *answer_.room_bytes;
    });
    const auto bound = is_over ? walk(settings, *answer_.room_bytes) : free;
    for (const auto& one : free.devices) {
      SettingOutcome outcome{text, one.peak, {}, {}};
      if (answer_.room_bytes) {
        const auto* within = bound.find(one.device);
        outcome.retries = within ? within->retries : 0;
        outcome.failures = within ? within->failures : 0;
      }
      row_of(one.device).outcomes.push_back(std::move(outcome));
    }
  }
  DeviceSettings& row_of(DeviceId device) {
    const std::string& name = device_name(tape_.tables(), device);
    for (DeviceSettings& one : answer_.devices)
      if (one.device == name) return one;
    answer_.devices.push_back({.device = name});
    return answer_.devices.back();
  }
  // Fewer failed requests, then fewer retries, then less reserved by enough to matter.
  static void choose(DeviceSettings& device) {
    const SettingOutcome& own = device.outcomes.front();
    const SettingOutcome* best = &own;
    const auto rank = [](const SettingOutcome& one) {
      return std::tuple(one.failures.value_or(0), one.retries.value_or(0),
                        one.peak.reserved_peak_bytes);
    };
    for (const SettingOutcome& one : device.outcomes)
      if (rank(one) < rank(*best)) best = &one;
    const std::int64_t before = own.peak.reserved_peak_bytes;
    const std::int64_t saved = before - best->peak.reserved_peak_bytes;
    const bool is_needed =
        std::tuple(best->failures, best->retries) < std::tuple(own.failures, own.retries);
    if (best == &own || (!is_needed && saved < before / 100 * kWorthPercent)) return;
    device.best = best->settings;
    device.saved_bytes = saved;
  }

  const Tape& tape_;
  const AllocOptions& options_;
  RunFacts run_;
  AllocAnswer& answer_;
};

}  // namespace

AllocAnswer find_alloc(const Tape& tape, const AllocOptions& options) {
  check_selection(options, tape);
  AllocAnswer answer;
  answer.diagnostics = tape.diagnostics();
  Comparison(tape, options, answer).compare();
  return answer;
}

}  // namespace tidemark

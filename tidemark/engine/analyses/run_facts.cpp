// Looks keys up, and the moment of a failed request in the tape.
#include "tidemark/engine/analyses/run_facts.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "tidemark/engine/analyses/naming.h"

namespace tidemark {
namespace {

class Meta {
 public:
  explicit Meta(const Tables& tables) : meta_(tables.meta()) {}

  std::string text(const char* key) const {
    const auto found = meta_.find(key);
    return found == meta_.end() ? std::string() : found->second;
  }
  template <class Number>
  std::optional<Number> number(const char* key) const {
    const std::string said = text(key);
    Number value{};
    const auto [end, problem] = std::from_chars(said.data(), said.data() + said.size(), value);
    if (problem != std::errc() || end != said.data() + said.size() || value < 0)
      return std::nullopt;
    return value;
  }
  std::int64_t count(const char* key, std::int64_t otherwise = 0) const {
    return number<std::int64_t>(key).value_or(otherwise);
  }

 private:
  const std::map<std::string, std::string>& meta_;
};

RunEnd end_named(std::string_view word) {
  for (std::size_t e = 0; e < kRunEndCount; ++e)
    if (name_of(static_cast<RunEnd>(e)) == word) return static_cast<RunEnd>(e);
  return RunEnd::Unknown;
}

When moment_of(const Tape& tape, std::int64_t event) {
  if (event < 0 || event >= static_cast<std::int64_t>(tape.size())) return {};
  const auto index = static_cast<std::size_t>(event);
  const Event row = tape[index];
  return describe(tape.tables(), {event, row.time_ns, tape.step_at(index)}, row);
}

std::optional<OutOfMemory> out_of_memory_of(const Tape& tape, const Meta& meta) {
  const std::string device = meta.text("oom.device");
  if (device.empty()) return std::nullopt;
  return OutOfMemory{device, meta.count("oom.wanted_bytes"), meta.count("oom.allocated_bytes"),
                     moment_of(tape, meta.number<std::int64_t>("oom.event").value_or(-1))};
}

}  // namespace

RunFacts find_run_facts(const Tape& tape) {
  const Meta meta(tape.tables());
  RunFacts run;
  run.kind = meta.text("run.kind");
  run.end = end_named(meta.text("run.ended"));
  run.failure = meta.text("run.failure");
  run.steps = meta.number<std::int64_t>("run.steps");
  run.optimizers = meta.count("run.optimizers");
  run.ops = meta.count("run.ops");
  run.wall_seconds = meta.number<double>("run.wall_seconds").value_or(0);
  run.torch_version = meta.text("run.torch");
  run.allocator_settings = meta.text("run.allocator_settings");
  run.rank = meta.count("run.rank");
  run.world_size = meta.count("run.world_size", 1);
  run.ranks_alike = meta.text("run.ranks_alike");
  run.gpu = {meta.text("gpu.name"), meta.count("gpu.memory_bytes"), meta.text("gpu.capability")};
  run.calibrated_on = meta.text("run.calibrated_on");
  run.nccl_groups = meta.count("run.nccl_groups");
  run.used_matmul = meta.text("used.matmul") == "yes";
  run.is_uncompiled = meta.text("used.compile") == "yes";
  run.further_seconds = meta.number<double>("run.further_seconds").value_or(0);
  run.later_failure = meta.text("run.later_failure");
  run.out_of_memory = out_of_memory_of(tape, meta);
  return run;
}

std::optional<CountedBytes> counted_on(const Tables& tables, const std::string& device) {
  const Meta meta(tables);
  const auto number = [&](const char* what) {
    return meta.number<std::int64_t>(("gpu." + device + what).c_str());
  };
  const auto allocated = number(".max_allocated_bytes"), reserved = number(".max_reserved_bytes");
  if (!allocated || !reserved) return std::nullopt;
  return CountedBytes{*allocated, *reserved};
}

}  // namespace tidemark

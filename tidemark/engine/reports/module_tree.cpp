// Finds the parent of each row by its path: parents come before children.
#include "tidemark/engine/reports/module_tree.h"

#include <algorithm>
#include <array>

namespace tidemark {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

bool is_below(std::string_view path, std::string_view parent) {
  return path.size() > parent.size() && path.starts_with(parent) && path[parent.size()] == '.';
}

std::vector<std::string> tree_labels(const std::vector<std::string_view>& paths) {
  std::vector<std::string> labels;
  std::vector<std::string_view> above;
  for (std::string_view path : paths) {
    std::string_view name = path;
    while (!above.empty() && !is_below(path, above.back())) above.pop_back();
    if (!above.empty()) name.remove_prefix(above.back().size() + 1);
    std::string label(2 * std::min(above.size(), kDeepestIndent), ' ');
    labels.push_back(label.append(name.empty() ? "(no name)" : name));
    above.push_back(path);
  }
  return labels;
}

std::vector<Phase> phases_of(const ScopesAnswer& answer) {
  constexpr std::array<Phase, kPhaseCount> kOrder = {
      Phase::Forward, Phase::Backward, Phase::Recompute, Phase::Optimizer, Phase::Other};
  std::vector<Phase> present;
  for (Phase phase : kOrder)
    if (std::any_of(answer.scopes.begin(), answer.scopes.end(),
                    [&](const ScopeFacts& scope) { return calls_in(scope, phase) != nullptr; }))
      present.push_back(phase);
  return present;
}

std::vector<std::string> devices_of(const ScopesAnswer& answer) {
  std::vector<std::string> devices;
  for (const ScopeFacts& scope : answer.scopes)
    for (const ScopeCalls& calls : scope.phases)
      for (const ScopeBytes& bytes : calls.devices)
        if (bytes.peak != 0 && !contains(devices, bytes.device)) devices.push_back(bytes.device);
  return devices;
}

const ScopeCalls* calls_in(const ScopeFacts& scope, Phase phase) {
  auto found = std::find_if(scope.phases.begin(), scope.phases.end(),
                            [&](const ScopeCalls& calls) { return calls.phase == phase; });
  return found == scope.phases.end() ? nullptr : &*found;
}

const ScopeBytes* bytes_on(const ScopeCalls& calls, const std::string& device) {
  auto found = std::find_if(calls.devices.begin(), calls.devices.end(),
                            [&](const ScopeBytes& bytes) { return bytes.device == device; });
  return found == calls.devices.end() ? nullptr : &*found;
}

}  // namespace tidemark

// A stack for each thread; a new run begins with empty ones.
#include "tidemark/libtorch/phantom/log/module_calls.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <vector>

#include "tidemark/libtorch/phantom/log/session.h"

namespace tidemark::phantom {
namespace {

struct OpenCall {
  ScopeId module;
  std::uint8_t flags;  // of the note of its begin
};

// The last of them, for every operator: found by one instruction.
struct Innermost {
  std::uint32_t session = 0;
  ScopeId module;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local Innermost t_innermost;

std::vector<OpenCall>& open_calls() {
  thread_local std::vector<OpenCall> calls;
  thread_local std::uint32_t session = 0;
  if (session != session_number()) calls.clear();
  session = session_number();
  return calls;
}

void set_innermost(const std::vector<OpenCall>& calls) {
  t_innermost = {session_number(), calls.empty() ? ScopeId() : calls.back().module};
}

}  // namespace

bool is_in_backward() { return torch::autograd::get_current_graph_task_id() != -1; }

void begin_step_of_module() {
  if (!is_in_backward() && c10::GradMode::is_enabled()) storage_log()->begin_step_if_due();
}

void begin_module(ScopeId module) {
  const std::uint8_t flags = is_in_backward() ? attribution::kInBackward : 0;
  storage_log()->begin_module(module, flags);
  std::vector<OpenCall>& calls = open_calls();
  calls.push_back({module, flags});
  set_innermost(calls);
}

void end_module(ScopeId module) {
  std::vector<OpenCall>& calls = open_calls();
  const auto found = std::find_if(calls.rbegin(), calls.rend(),
                                  [&](const OpenCall& call) { return call.module == module; });
  if (found == calls.rend()) return;
  const auto remaining = static_cast<std::size_t>(calls.rend() - found) - 1;
  while (calls.size() > remaining) {
    storage_log()->end_module(calls.back().module, calls.back().flags);
    calls.pop_back();
    set_innermost(calls);
  }
}

ScopeId current_module() {
  return t_innermost.session == session_number() ? t_innermost.module : ScopeId();
}

}  // namespace tidemark::phantom

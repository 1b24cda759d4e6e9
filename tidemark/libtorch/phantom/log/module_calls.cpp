// A stack for each thread; a new run begins with empty ones.
#include "tidemark/libtorch/phantom/log/module_calls.h"

#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/graph_task.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "tidemark/libtorch/phantom/log/session.h"
#include "tidemark/libtorch/phantom/log/where.h"

namespace tidemark::phantom {
namespace {

struct OpenCall {
  ScopeId module;
  Phase phase;
};

std::atomic<std::uint32_t> g_run{0};

std::vector<OpenCall>& open_calls() {
  thread_local std::vector<OpenCall> calls;
  thread_local std::uint32_t run = 0;
  if (run != g_run) calls.clear();
  run = g_run;
  return calls;
}

}  // namespace

void begin_module(ScopeId module) {
  const bool in_backward = torch::autograd::get_current_graph_task_id() != -1;
  const Phase phase = in_backward ? Phase::Recompute : Phase::Forward;
  if (!in_backward && c10::GradMode::is_enabled()) begin_step_if_due(*storage_log());
  storage_log()->begin_scope(module, phase);
  open_calls().push_back({module, phase});
}

void end_module(ScopeId module) {
  std::vector<OpenCall>& calls = open_calls();
  const auto found = std::find_if(calls.rbegin(), calls.rend(),
                                  [&](const OpenCall& call) { return call.module == module; });
  if (found == calls.rend()) return;
  const auto remaining = static_cast<std::size_t>(calls.rend() - found) - 1;
  while (calls.size() > remaining) {
    storage_log()->end_scope(calls.back().module, calls.back().phase);
    calls.pop_back();
  }
}

ScopeId current_module() {
  const std::vector<OpenCall>& calls = open_calls();
  return calls.empty() ? ScopeId() : calls.back().module;
}

void reset_modules() { ++g_run; }

}  // namespace tidemark::phantom

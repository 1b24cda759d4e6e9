// Tables under a lock.
#include "tidemark/libtorch/recorder/origins.h"

#include <atomic>
#include <mutex>
#include <string>

namespace tidemark::recorder {
namespace {

std::atomic<FindLine> g_find_line{nullptr};

}  // namespace

Origins* const Origins::the_one_ = new Origins();

StackId Origins::line(std::string_view file, std::uint32_t number, std::string_view function) {
  const std::lock_guard guard(lock_);
  return tables_.stack({}, file, number, function);
}

CallId Origins::call(std::string_view op, std::string_view signature) {
  const std::lock_guard guard(lock_);
  return tables_.call(op, signature);
}

CallId Origins::with_result(CallId call, std::string_view result) {
  const std::lock_guard guard(lock_);
  return tables_.call(std::string(tables_.op_name(call)), result);
}

StackId Origins::line_in(Tables& tables, StackId line) {
  if (!line) return {};
  const std::lock_guard guard(lock_);
  const Frame& frame = tables_.stacks()[line.value].frame;
  return tables.stack({}, tables_.strings[frame.file], frame.line, tables_.strings[frame.function]);
}

CallId Origins::call_in(Tables& tables, CallId call) {
  if (!call) return {};
  const std::lock_guard guard(lock_);
  const Call& row = tables_.calls()[call.value];
  return tables.call(tables_.strings[row.op], tables_.strings[row.signature]);
}

void set_line_finder(FindLine find) { g_find_line = find; }

StackId line_here() {
  const FindLine find = g_find_line.load();
  return find ? find() : StackId();
}

}  // namespace tidemark::recorder

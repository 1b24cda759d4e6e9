// Interning of every table's rows.
#include "tidemark/engine/tape/tables.h"

#include <algorithm>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/rounding.h"

namespace tidemark {
namespace {

// Deeper names exist only in damaged input; the rest of such a name is one part.
constexpr std::size_t kMaxScopeDepth = 64;

template <class IdType, class Rows>
IdType next_id(const Rows& rows, const char* what) {
  if (rows.size() >= IdType::kNone)
    throw Error(ErrorCode::BadFormat, std::string("too many ") + what);
  return IdType(static_cast<typename IdType::rep>(rows.size()));
}

std::size_t parent_length(std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const bool has_parent = dot != std::string_view::npos && dot > 0;
  const bool too_deep =
      static_cast<std::size_t>(std::count(path.begin(), path.end(), '.')) > kMaxScopeDepth;
  return has_parent && !too_deep ? dot : 0;
}

}  // namespace

DeviceId Tables::device(std::string_view name) {
  if (DeviceId known = find_device(name)) return known;
  const auto id = next_id<DeviceId>(devices_, "devices");
  if (name.size() > kMaxNameBytes) throw Error(ErrorCode::BadFormat, "a device name is too long");
  devices_.push_back({std::string(name), granularity_of(name)});
  return id;
}

StreamId Tables::stream(std::int64_t number) {
  if (auto known = stream_index_.find(number); known != stream_index_.end()) return known->second;
  const auto id = next_id<StreamId>(streams_, "streams");
  streams_.push_back(number);
  return stream_index_[number] = id;
}

ScopeId Tables::scope(std::string_view path) {
  const StringId name = strings.intern(path);
  if (auto known = scope_index_.find(name); known != scope_index_.end()) return known->second;
  const std::size_t above = parent_length(path);
  const ScopeId parent = above > 0 ? scope(path.substr(0, above)) : ScopeId();
  const auto id = next_id<ScopeId>(scopes_, "scopes");
  scopes_.push_back({name, parent});
  return scope_index_[name] = id;
}

StackId Tables::stack(StackId caller, std::string_view file, std::uint32_t line,
                      std::string_view function) {
  const StackNode node{{strings.intern(file), strings.intern(function), line}, caller};
  if (auto known = stack_index_.find({caller, node.frame}); known != stack_index_.end())
    return known->second;
  const auto id = next_id<StackId>(stacks_, "stacks");
  stacks_.push_back(node);
  return stack_index_[{caller, node.frame}] = id;
}

CallId Tables::call(std::string_view op, std::string_view signature) {
  const Call row{strings.intern(op), strings.intern(signature)};
  if (auto known = call_index_.find({row.op, row.signature}); known != call_index_.end())
    return known->second;
  const auto id = next_id<CallId>(calls_, "calls");
  calls_.push_back(row);
  return call_index_[{row.op, row.signature}] = id;
}

void Tables::set_meta(std::string_view key, std::string_view value) {
  if (std::max(key.size(), value.size()) > kMaxNameBytes)
    throw Error(ErrorCode::BadFormat, "a meta entry is too long");
  meta_[std::string(key)] = value;
  ++meta_changes_;
}

DeviceId Tables::find_device(std::string_view name) const {
  for (std::size_t i = 0; i < devices_.size(); ++i)
    if (devices_[i].name == name) return device_numbered(i);
  return {};
}

std::string_view Tables::scope_path(ScopeId id) const {
  return id ? strings[scopes_[id.value].path] : std::string_view();
}

std::string_view Tables::op_name(CallId id) const {
  return id ? strings[calls_[id.value].op] : std::string_view();
}

std::string Tables::source(StackId id) const {
  if (!id) return {};
  const Frame& frame = stacks_[id.value].frame;
  return std::string(strings[frame.file]) + ":" + std::to_string(frame.line);
}

}  // namespace tidemark

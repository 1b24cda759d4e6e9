// The tables an event's ids point into: strings, devices, streams, scopes, stacks, calls.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tidemark/engine/base/ids.h"
#include "tidemark/engine/base/interner.h"

namespace tidemark {

struct Device {
  std::string name;              // "cuda:0", "cpu"
  std::int64_t granularity = 1;  // requests are rounded up to a multiple of this
};

// A place in the module tree: "layers.0.attn" below "layers.0" below "layers".
struct Scope {
  StringId path;
  ScopeId parent;
};

struct Frame {
  StringId file, function;
  std::uint32_t line = 0;
  auto operator<=>(const Frame&) const = default;
};

struct StackNode {
  Frame frame;
  StackId parent;  // the caller
};

// One distinct operator call: the overload, and its arguments as text.
struct Call {
  StringId op, signature;
};

class Tables {
 public:
  DeviceId device(std::string_view name);
  StreamId stream(std::int64_t number);
  // Creates missing parents: a dot separates a child from its parent.
  ScopeId scope(std::string_view path);
  StackId stack(StackId caller, std::string_view file, std::uint32_t line,
                std::string_view function = {});
  CallId call(std::string_view op, std::string_view signature = {});
  void set_meta(std::string_view key, std::string_view value);

  Interner strings;
  const std::vector<Device>& devices() const { return devices_; }
  const std::vector<std::int64_t>& streams() const { return streams_; }
  const std::vector<Scope>& scopes() const { return scopes_; }
  const std::vector<StackNode>& stacks() const { return stacks_; }
  const std::vector<Call>& calls() const { return calls_; }
  const std::map<std::string, std::string>& meta() const { return meta_; }
  // Grows with every change of meta, so that a writer sees a value that was replaced.
  std::size_t meta_changes() const { return meta_changes_; }

  DeviceId find_device(std::string_view name) const;
  std::string_view scope_path(ScopeId id) const;  // "" for none
  std::string_view op_name(CallId id) const;      // "" for none
  std::string source(StackId id) const;           // "train.py:12", "" for none

 private:
  std::vector<Device> devices_;
  std::vector<std::int64_t> streams_;
  std::vector<Scope> scopes_;
  std::vector<StackNode> stacks_;
  std::vector<Call> calls_;
  std::map<std::string, std::string> meta_;
  std::size_t meta_changes_ = 0;
  std::unordered_map<std::int64_t, StreamId> stream_index_;
  std::unordered_map<StringId, ScopeId> scope_index_;
  std::map<std::pair<StackId, Frame>, StackId> stack_index_;
  std::map<std::pair<StringId, StringId>, CallId> call_index_;
};

}  // namespace tidemark

// One line an event; only what differs from the line before is said.
#include "tidemark/engine/tape/text_writer.h"

#include <algorithm>
#include <vector>

#include "tidemark/engine/base/saturating.h"
#include "tidemark/engine/tape/open_calls.h"
#include "tidemark/engine/tape/text_tokens.h"

namespace tidemark {
namespace {

class TextWriter {
 public:
  explicit TextWriter(const Tape& tape) : tape_(tape), tables_(tape.tables()) {}

  std::string write() {
    out_ = "tape 1\n";
    for (const auto& [key, value] : tables_.meta())
      out_ += "meta " + quoted(key) + " " + quoted(value) + "\n";
    for (const Diagnostic& d : tape_.diagnostics().all())
      out_ += "diagnostic " + quoted(d.code) + " " + std::string(name_of(d.severity)) + " " +
              std::to_string(d.count) + " " + quoted(d.where) + " " + quoted(d.message) + "\n";
    stack_names_.resize(tables_.stacks().size());
    for (std::size_t i = 0; i < tape_.size(); ++i)
      write_event(static_cast<std::int64_t>(i), tape_[i]);
    return std::move(out_);
  }

 private:
  void write_event(std::int64_t i, const Event& e) {
    declare_device(e);
    declare_stack(e.stack);
    if (e.time_ns != next_time_ns_) out_ += "@" + std::to_string(e.time_ns) + " ";
    next_time_ns_ = add_saturating(e.time_ns, 1);
    if (e.kind == Kind::Phase) phase_ = e.phase;
    if (e.kind == Kind::ScopeBegin && e.scope) open_.begin(e.scope, e.phase, i);
    out_.append(2 * std::min<std::size_t>(indent(e), 12), ' ');
    out_ += name_of(e.kind);
    write_operands(e);
    write_place(e);
    out_ += "\n";
    if (e.kind == Kind::ScopeEnd) end_scope(e);
  }

  void end_scope(const Event& e) {
    const OpenCalls::Slot meant = open_.meant(e.scope, e.phase);
    if (meant != OpenCalls::kNone) open_.end(meant);
  }

  std::size_t indent(const Event& e) const {
    const bool is_edge = e.kind == Kind::ScopeBegin || e.kind == Kind::ScopeEnd;
    return open_.size() - (is_edge && open_.size() > 0 ? 1 : 0);
  }

  void declare_device(const Event& e) {
    const bool names_device =
        e.kind == Kind::Alloc || e.kind == Kind::SegmentMap || e.kind == Kind::SegmentUnmap;
    if (!names_device || e.device == device_ || !e.device) return;
    device_ = e.device;
    out_ += "device " + quoted(tables_.devices()[device_.value].name) + "\n";
  }

  // Callers first; a line without caller and function needs no declaration.
  void declare_stack(StackId id) {
    std::vector<StackId> missing;
    for (; id && stack_names_[id.value].empty(); id = tables_.stacks()[id.value].parent) {
      if (is_bare(id)) break;
      missing.push_back(id);
    }
    for (auto next = missing.rbegin(); next != missing.rend(); ++next) {
      const StackNode& node = tables_.stacks()[next->value];
      const std::string_view function = tables_.strings[node.frame.function];
      std::string& name = stack_names_[next->value];
      name = "k" + std::to_string(declared_stacks_++);
      out_ += "stack " + name + " " + quoted(tables_.strings[node.frame.file]) + " " +
              std::to_string(node.frame.line);
      if (!function.empty()) out_ += " " + quoted(function);
      if (node.parent) out_ += " under=" + stack_name(node.parent);
      out_ += "\n";
    }
  }

  bool is_bare(StackId id) const {
    const StackNode& node = tables_.stacks()[id.value];
    return !node.parent && tables_.strings[node.frame.function].empty();
  }

  std::string stack_name(StackId id) const {
    return is_bare(id) ? quoted(tables_.source(id)) : stack_names_[id.value];
  }

  // A plain - means no scope.
  std::string scope_name(ScopeId id) const {
    const std::string_view path = tables_.scope_path(id);
    return path == "-" ? "\"-\"" : quoted(path);
  }

  void write_operands(const Event& e) {
    const std::string storage = " s" + std::to_string(e.subject);
    const std::string bytes = " " + std::to_string(std::max<std::int64_t>(e.bytes, 0));
    switch (e.kind) {
      case Kind::Alloc:
        out_ += storage + bytes;
        if (e.category != Category::Unknown) out_.append(" ").append(name_of(e.category));
        break;
      case Kind::Resize: out_ += storage + bytes; break;
      case Kind::Relabel: out_.append(storage).append(" ").append(name_of(e.category)); break;
      case Kind::Free:
      case Kind::Input:
      case Kind::Output: out_ += storage; break;
      case Kind::ScopeBegin:
      case Kind::ScopeEnd: out_ += " " + quoted(tables_.scope_path(e.scope)); break;
      case Kind::CallBegin:
      case Kind::CallEnd: write_call(e.call); break;
      case Kind::Phase: out_.append(" ").append(name_of(e.phase)); break;
      case Kind::Mark: out_ += " " + quoted(tables_.strings[StringId(e.subject)]); break;
      case Kind::SegmentMap:
      case Kind::SegmentUnmap: out_ += " " + std::to_string(e.subject) + bytes; break;
      case Kind::Step: break;
    }
  }

  void write_call(CallId id) {
    out_ += " " + quoted(tables_.op_name(id));
    if (!id) return;
    const std::string_view signature = tables_.strings[tables_.calls()[id.value].signature];
    if (!signature.empty()) out_ += " " + quoted(signature);
  }

  void write_place(const Event& e) {
    const bool is_call = e.kind == Kind::CallBegin || e.kind == Kind::CallEnd;
    const bool is_edge = e.kind == Kind::ScopeBegin || e.kind == Kind::ScopeEnd;
    if (e.call && !is_call) {
      const Call& call = tables_.calls()[e.call.value];
      out_ += " op=" + quoted(tables_.strings[call.op]);
      const std::string_view signature = tables_.strings[call.signature];
      if (!signature.empty()) out_ += " sig=" + quoted(signature);
    }
    if (e.stack) out_ += " at=" + stack_name(e.stack);
    if (e.stream) out_ += " stream=" + std::to_string(tables_.streams()[e.stream.value]);
    if (!is_edge && e.scope != open_.innermost())
      out_ += " scope=" + (e.scope ? scope_name(e.scope) : "-");
    if (e.phase != phase_) out_.append(" phase=").append(name_of(e.phase));
  }

  const Tape& tape_;
  const Tables& tables_;
  std::string out_;
  std::int64_t next_time_ns_ = 0;
  DeviceId device_;
  Phase phase_ = Phase::Other;
  OpenCalls open_;
  std::vector<std::string> stack_names_;  // of those declared, in the order of declarations
  std::size_t declared_stacks_ = 0;
};

}  // namespace

std::string write_tape_text(const Tape& tape) { return TextWriter(tape).write(); }

}  // namespace tidemark

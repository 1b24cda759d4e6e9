// One line an event; only what does not follow from the lines before is said.
#include "tidemark/engine/tape/text_writer.h"

#include <algorithm>
#include <vector>

#include "tidemark/engine/tape/history.h"
#include "tidemark/engine/tape/text_tokens.h"

namespace tidemark {
namespace {

class TextWriter {
 public:
  explicit TextWriter(const Tape& tape) : tape_(tape), tables_(tape.tables()) {}

  std::string write() {
    out_ = has_pools() ? "tape 2\n" : "tape 1\n";
    for (const auto& [key, value] : tables_.meta())
      out_ += "meta " + in_quotes(key) + " " + in_quotes(value) + "\n";
    for (const Diagnostic& d : tape_.diagnostics().all())
      out_ += "diagnostic " + in_quotes(d.code) + " " + std::string(name_of(d.severity)) + " " +
              std::to_string(d.count) + " " + in_quotes(d.where) + " " + in_quotes(d.message) +
              "\n";
    stack_names_.resize(tables_.stacks().size());
    if (!devices_come_in_order()) declare_all_devices();
    for (std::size_t i = 0; i < tape_.size(); ++i) write_event(tape_[i]);
    return std::move(out_);
  }

 private:
  // What version 2 of the text form has beyond version 1.
  bool has_pools() const {
    const auto kinds = tape_.events().kinds();
    return std::any_of(kinds.begin(), kinds.end(),
                       [](std::uint8_t kind) { return is_about_pool(static_cast<Kind>(kind)); });
  }
  void write_event(const Event& e) {
    const Event usual = history_.usual(e.kind, e.subject);
    if (needs_device(e.kind)) declare_device(e.device);
    if (is_about_storage(e.kind)) declare_storage(e.subject);
    declare_stack(e.stack);
    if (e.time_ns != usual.time_ns) out_ += "@" + std::to_string(e.time_ns) + " ";
    out_.append(2 * std::min<std::size_t>(indent(e), 12), ' ');
    out_ += name_of(e.kind);
    write_operands(e);
    write_place(e, usual);
    write_columns(e, usual);
    out_ += "\n";
    history_.learn(e);
  }

  std::size_t indent(const Event& e) const {
    const std::size_t open = history_.open().size();
    return e.kind == Kind::ScopeEnd && open > 0 ? open - 1 : open;
  }

  // Whether the lines that need a device name all of them, in the order of their table.
  bool devices_come_in_order() const {
    std::size_t named = 0;
    for (std::size_t i = 0; i < tape_.size(); ++i) {
      if (!needs_device(static_cast<Kind>(tape_.events().kinds()[i]))) continue;
      const std::size_t device = tape_.events().devices()[i];
      if (device > named) return false;
      if (device == named) ++named;
    }
    return named == tables_.devices().size();
  }

  void declare_all_devices() {
    for (std::size_t i = 0; i < tables_.devices().size(); ++i) declare_device(device_numbered(i));
  }

  void declare_device(DeviceId device) {
    if (device == device_ || !device) return;
    device_ = device;
    out_ += "device " + in_quotes(tables_.devices()[device_.value].name) + "\n";
  }

  // A storage that is not the next new one says its number.
  void declare_storage(std::uint32_t number) {
    if (named_storages_.size() <= number) named_storages_.resize(number + std::size_t{1});
    if (named_storages_[number]) return;
    named_storages_[number] = true;
    const std::string text = std::to_string(number);
    if (number != next_storage_) out_ += "storage s" + text + " " + text + "\n";
    next_storage_ = std::max(next_storage_, number + 1);
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
      out_ += "stack " + name + " " + in_quotes(tables_.strings[node.frame.file]) + " " +
              std::to_string(node.frame.line);
      if (!function.empty()) out_ += " " + in_quotes(function);
      if (node.parent) out_ += " under=" + stack_name(node.parent);
      out_ += "\n";
    }
  }

  // FILE:LINE alone says it all. With its line it must not be longer than a name may be.
  bool is_bare(StackId id) const {
    constexpr std::size_t kMostForLine = 11;
    const StackNode& node = tables_.stacks()[id.value];
    return !node.parent && tables_.strings[node.frame.function].empty() &&
           tables_.strings[node.frame.file].size() <= kMaxNameBytes - kMostForLine;
  }

  std::string stack_name(StackId id) const {
    return is_bare(id) ? in_quotes(tables_.source(id)) : stack_names_[id.value];
  }

  // A bare - means none.
  static std::string name_or_dash(bool is_known, std::string_view name) {
    if (!is_known) return "-";
    return name == "-" ? "\"-\"" : in_quotes(name);
  }
  std::string scope_name(ScopeId id) const {
    return name_or_dash(static_cast<bool>(id), tables_.scope_path(id));
  }
  std::string device_name(DeviceId id) const {
    return id ? name_or_dash(true, tables_.devices()[id.value].name) : "-";
  }

  // The operand of a line is never negative.
  static std::int64_t size_said(const Event& e) { return std::max<std::int64_t>(e.bytes, 0); }

  void write_operands(const Event& e) {
    const std::string storage = " s" + std::to_string(e.subject);
    const std::string bytes = " " + std::to_string(size_said(e));
    switch (e.kind) {
      case Kind::Alloc:
        out_ += storage + bytes;
        if (e.category != Category::Unknown) out_.append(" ").append(name_of(e.category));
        break;
      case Kind::Resize:
      case Kind::Block: out_ += storage + bytes; break;
      case Kind::Relabel: out_.append(storage).append(" ").append(name_of(e.category)); break;
      case Kind::Free:
      case Kind::Input:
      case Kind::Output: out_ += storage; break;
      case Kind::ScopeBegin:
      case Kind::ScopeEnd: out_ += " " + scope_name(e.scope); break;
      case Kind::CallBegin:
      case Kind::CallEnd: write_call(e.call); break;
      case Kind::Phase: out_.append(" ").append(name_of(e.phase)); break;
      case Kind::Mark: out_ += " " + in_quotes(tables_.strings[StringId(e.subject)]); break;
      case Kind::SegmentMap:
      case Kind::SegmentUnmap: out_ += " " + std::to_string(e.subject) + bytes; break;
      case Kind::PoolUse:
      case Kind::PoolRelease:
      case Kind::CacheEmpty: out_ += " " + std::to_string(e.subject); break;
      case Kind::Step: break;
    }
  }

  void write_call(CallId id) {
    out_ += " " + name_or_dash(static_cast<bool>(id), tables_.op_name(id));
    const std::string_view signature = signature_of(id);
    if (!signature.empty()) out_ += " " + in_quotes(signature);
  }

  std::string_view signature_of(CallId id) const {
    return id ? tables_.strings[tables_.calls()[id.value].signature] : std::string_view();
  }

  void write_place(const Event& e, const Event& usual) {
    if (e.call && !is_call_edge(e.kind)) {
      out_ += " op=" + name_or_dash(true, tables_.op_name(e.call));
      const std::string_view signature = signature_of(e.call);
      if (!signature.empty()) out_ += " sig=" + in_quotes(signature);
    }
    if (e.stack) out_ += " at=" + stack_name(e.stack);
    if (e.stream) out_ += " stream=" + std::to_string(tables_.streams()[e.stream.value]);
    if (!is_scope_edge(e.kind) && e.scope != usual.scope) out_ += " scope=" + scope_name(e.scope);
    if (e.kind != Kind::Phase && e.phase != usual.phase)
      out_.append(" phase=").append(name_of(e.phase));
  }

  // What a sound tape never needs: columns that say something else than the line does.
  void write_columns(const Event& e, const Event& usual) {
    const bool has_size = e.kind == Kind::Alloc || e.kind == Kind::Resize ||
                          e.kind == Kind::Block || is_about_segment(e.kind);
    const bool has_category = e.kind == Kind::Alloc || e.kind == Kind::Relabel;
    const bool has_subject = is_about_storage(e.kind) || is_about_segment(e.kind) ||
                             is_about_pool(e.kind) || e.kind == Kind::Mark;
    if (e.bytes != (has_size ? size_said(e) : usual.bytes))
      out_ += " bytes=" + std::to_string(e.bytes);
    if (!has_category && e.category != usual.category)
      out_.append(" category=").append(name_of(e.category));
    if (!needs_device(e.kind) && e.device != usual.device)
      out_ += " device=" + device_name(e.device);
    if (!has_subject && e.subject != Event().subject)
      out_ += " subject=" + std::to_string(e.subject);
  }

  const Tape& tape_;
  const Tables& tables_;
  std::string out_;
  History history_;
  DeviceId device_;
  std::vector<bool> named_storages_;  // by number
  std::uint32_t next_storage_ = 0;
  std::vector<std::string> stack_names_;  // of those declared, in the order of declarations
  std::size_t declared_stacks_ = 0;
};

}  // namespace

std::string write_tape_text(const Tape& tape) { return TextWriter(tape).write(); }

}  // namespace tidemark

// A table of words, each with its small handler that calls the builder.
#include "tidemark/engine/tape/text_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/base/units.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/text_tokens.h"

namespace tidemark {
namespace {

class TextReader {
 public:
  explicit TextReader(const std::string& name) : name_(name) {}

  Tape read(std::string_view text) {
    expect_utf8(text, name_);
    while (!text.empty()) {
      const std::size_t length = std::min(text.find('\n'), text.size());
      ++line_;
      read_line(text.substr(0, length));
      text.remove_prefix(std::min(length + 1, text.size()));
    }
    if (!header_seen_) fail(1, "the text has no tape in it", kHeaderHint);
    return builder_.finish();
  }

 private:
  using Handler = void (TextReader::*)();
  struct Word {
    std::string_view name, usage;
    std::size_t least, most;  // operands
    Handler handler;
  };
  static const std::array<Word, 20> kWords;
  static constexpr const char* kHeaderHint = "the first line of a tape is: tape 1";

  [[noreturn]] void fail(std::size_t column, const std::string& message,
                         const std::string& hint = {}) const {
    throw Error(ErrorCode::BadFormat, message,
                name_ + ":" + std::to_string(line_) + ":" + std::to_string(column), hint);
  }

  void read_line(std::string_view line) {
    tokens_ = tokenize(line, name_ + ":" + std::to_string(line_));
    if (tokens_.empty()) return;
    take_time();
    if (tokens_.empty()) fail(1, "a time without an event", "write the event on the same line");
    const Token& first = tokens_.front();
    auto word = std::find_if(kWords.begin(), kWords.end(),
                             [&](const Word& w) { return w.name == first.value; });
    if (!header_seen_ && first.value != "tape") fail(first.column, "this is not a tape", kHeaderHint);
    if (word == kWords.end() || !first.key.empty())
      fail(first.column, "unknown word \"" + first.value.substr(0, 40) + "\"",
           "docs/formats/tape.md lists the words");
    check_names();
    take_place();
    if (operands() < word->least || operands() > word->most)
      fail(first.column, "wrong number of operands", "usage: " + std::string(word->usage));
    run(*word, first.column);
  }

  // A table that is full knows no line; this does.
  void run(const Word& word, std::size_t column) {
    try {
      (this->*word.handler)();
    } catch (const Error& error) {
      if (!error.where().empty()) throw;
      fail(column, error.message(), error.hint());
    }
  }

  std::size_t operands() const { return tokens_.size() - 1; }
  const std::string& operand(std::size_t i) const { return tokens_[i + 1].value; }
  std::size_t column(std::size_t i) const { return tokens_[i + 1].column; }

  void check_names() const {
    for (const Token& token : tokens_)
      if (token.value.size() > kMaxNameBytes)
        fail(token.column, "a name of " + std::to_string(token.value.size()) + " bytes is too long",
             "names may have at most " + std::to_string(kMaxNameBytes) + " bytes");
  }

  void take_time() {
    const Token& first = tokens_.front();
    if (!first.key.empty() || !first.value.starts_with('@')) return;
    builder_.set_time(integer<std::int64_t>(first.value.substr(1), first.column, "a time"));
    tokens_.erase(tokens_.begin());
  }

  // Moves the key=value words of the line into place_.
  void take_place() {
    place_ = {};
    op_ = signature_ = nullptr;
    for (const Token& token : tokens_)
      if (!token.key.empty()) take_key(token);
    if (signature_ && !op_) fail(1, "sig= without op=", "name the operator too");
    if (op_) place_.call = builder_.tables().call(*op_, signature_ ? *signature_ : "");
    tokens_.erase(std::remove_if(tokens_.begin() + 1, tokens_.end(),
                                 [](const Token& t) { return !t.key.empty(); }),
                  tokens_.end());
    op_ = signature_ = nullptr;
  }

  static bool is_none(const Token& token) { return token.value == "-" && !token.quoted; }

  void take_key(const Token& token) {
    if (token.key == "op") op_ = &token.value;
    else if (token.key == "sig") signature_ = &token.value;
    else if (token.key == "at") place_.stack = stack_named(token.value, token.column);
    else if (token.key == "stream")
      place_.stream = builder_.tables().stream(integer<std::int64_t>(token.value, token.column, "a stream"));
    else if (token.key == "scope")
      place_.scope = is_none(token) ? ScopeId() : builder_.tables().scope(token.value);
    else if (token.key == "phase") place_.phase = phase_at(token.value, token.column);
    else if (token.key == "under") place_.stack = stack_named(token.value, token.column);
    else
      fail(token.column, "unknown key \"" + token.key.substr(0, 40) + "\"",
           "known are op= sig= at= stream= scope= phase=; quote a word that has = in it");
  }

  template <class T>
  T integer(std::string_view text, std::size_t at, const char* what) const {
    T value{};
    auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc{} || end != text.data() + text.size())
      fail(at, std::string(what) + " must be a whole number in range");
    return value;
  }

  std::int64_t bytes_at(std::size_t i) const {
    const std::string& text = operand(i);
    if (text.starts_with('-')) fail(column(i), "a size cannot be negative");
    if (auto bytes = parse_bytes(text)) return *bytes;
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    fail(column(i), digits ? "a size past 63 bits" : "this is not a size",
         "write bytes (4096) or a unit without a blank (4KiB, 1.5MiB)");
  }

  Category category_at(std::size_t i) const {
    if (i >= operands()) return Category::Unknown;
    if (auto category = category_named(operand(i))) return *category;
    fail(column(i), "unknown category \"" + operand(i).substr(0, 40) + "\"",
         "as in Parameter, Gradient, Activation, OptimizerState");
  }

  Phase phase_at(const std::string& text, std::size_t at) const {
    if (auto phase = phase_named(text)) return *phase;
    fail(at, "unknown phase \"" + text.substr(0, 40) + "\"",
         "one of forward, backward, recompute, optimizer, other");
  }

  StorageId storage_at(std::size_t i) {
    auto [entry, is_new] = storages_.try_emplace(operand(i));
    if (is_new) entry->second = builder_.new_storage();
    return entry->second;
  }

  // A name that a stack line gave, or FILE:LINE.
  StackId stack_named(const std::string& text, std::size_t at) {
    if (auto known = stacks_.find(text); known != stacks_.end()) return known->second;
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos)
      fail(at, "unknown stack \"" + text.substr(0, 40) + "\"", "write FILE:LINE");
    const auto line = integer<std::uint32_t>(std::string_view(text).substr(colon + 1), at, "a line");
    return builder_.tables().stack({}, text.substr(0, colon), line);
  }

  CallId call_at(std::size_t i) {
    return builder_.tables().call(operand(i), operands() > i + 1 ? operand(i + 1) : "");
  }

  void tape() {
    if (operand(0) != "1")
      throw Error(ErrorCode::Unsupported, "tape text version " + operand(0) + " is not known here",
                  name_ + ":" + std::to_string(line_), "this tidemark reads version 1");
    header_seen_ = true;
  }
  void meta() { builder_.tables().set_meta(operand(0), operand(1)); }
  void device() { device_ = builder_.tables().device(operand(0)); }
  void stack() {
    const auto line = integer<std::uint32_t>(operand(2), column(2), "a line");
    stacks_[operand(0)] = builder_.tables().stack(place_.stack, operand(1), line,
                                                  operands() > 3 ? operand(3) : "");
  }
  void diagnostic() {
    const std::array severities = {Severity::Note, Severity::Warning, Severity::Error};
    for (Severity severity : severities)
      if (name_of(severity) == operand(1)) {
        builder_.diagnose(operand(0), severity, operand(3), operand(4),
                          integer<std::int64_t>(operand(2), column(2), "a count"));
        return;
      }
    fail(column(1), "unknown severity", "one of note, warning, error");
  }
  DeviceId current_device() {
    return device_ ? device_ : device_ = builder_.tables().device("cuda:0");
  }
  void alloc() {
    const std::int64_t bytes = bytes_at(1);
    const Category category = category_at(2);
    builder_.alloc_as(storage_at(0), current_device(), bytes, category, place_);
  }
  void free() { builder_.free(storage_at(0), place_); }
  void resize() {
    const std::int64_t bytes = bytes_at(1);
    builder_.resize(storage_at(0), bytes, place_);
  }
  void relabel() {
    const Category category = category_at(1);
    builder_.relabel(storage_at(0), category, place_);
  }
  void input() { builder_.input(storage_at(0), place_); }
  void output() { builder_.output(storage_at(0), place_); }
  void begin() { builder_.begin_scope(builder_.tables().scope(operand(0)), place_); }
  void end() { builder_.end_scope(builder_.tables().scope(operand(0)), place_); }
  void call() { builder_.begin_call(call_at(0), place_); }
  void return_() { builder_.end_call(call_at(0), place_); }
  void phase() { builder_.set_phase(phase_at(operand(0), column(0)), place_); }
  void step() { builder_.begin_step(place_); }
  void mark() { builder_.mark(operand(0), place_); }
  void map() {
    const auto segment = integer<std::uint32_t>(operand(0), column(0), "a segment");
    builder_.map_segment(current_device(), segment, bytes_at(1), place_);
  }
  void unmap() {
    const auto segment = integer<std::uint32_t>(operand(0), column(0), "a segment");
    builder_.unmap_segment(current_device(), segment, bytes_at(1), place_);
  }

  const std::string& name_;
  std::size_t line_ = 0;
  bool header_seen_ = false;
  std::vector<Token> tokens_;
  Place place_;
  const std::string* op_ = nullptr;
  const std::string* signature_ = nullptr;
  DeviceId device_;
  TapeBuilder builder_;
  std::unordered_map<std::string, StorageId> storages_;
  std::unordered_map<std::string, StackId> stacks_;
};

const std::array<TextReader::Word, 20> TextReader::kWords = {{
    {"tape", "tape 1", 1, 1, &TextReader::tape},
    {"meta", "meta KEY VALUE", 2, 2, &TextReader::meta},
    {"device", "device NAME", 1, 1, &TextReader::device},
    {"stack", "stack NAME FILE LINE [FUNCTION] [under=NAME]", 3, 4, &TextReader::stack},
    {"diagnostic", "diagnostic CODE SEVERITY COUNT WHERE MESSAGE", 5, 5, &TextReader::diagnostic},
    {"alloc", "alloc STORAGE BYTES [CATEGORY]", 2, 3, &TextReader::alloc},
    {"free", "free STORAGE", 1, 1, &TextReader::free},
    {"resize", "resize STORAGE BYTES", 2, 2, &TextReader::resize},
    {"relabel", "relabel STORAGE CATEGORY", 2, 2, &TextReader::relabel},
    {"begin", "begin SCOPE", 1, 1, &TextReader::begin},
    {"end", "end SCOPE", 1, 1, &TextReader::end},
    {"call", "call OPERATOR [SIGNATURE]", 1, 2, &TextReader::call},
    {"return", "return OPERATOR [SIGNATURE]", 1, 2, &TextReader::return_},
    {"phase", "phase PHASE", 1, 1, &TextReader::phase},
    {"step", "step", 0, 0, &TextReader::step},
    {"mark", "mark TEXT", 1, 1, &TextReader::mark},
    {"input", "input STORAGE", 1, 1, &TextReader::input},
    {"output", "output STORAGE", 1, 1, &TextReader::output},
    {"map", "map SEGMENT BYTES", 2, 2, &TextReader::map},
    {"unmap", "unmap SEGMENT BYTES", 2, 2, &TextReader::unmap},
}};

}  // namespace

Tape read_tape_text(std::string_view text, const std::string& name) {
  return TextReader(name).read(text);
}

}  // namespace tidemark

// A table of words, each with the keys it takes and its small handler that calls the builder.
#include "tidemark/engine/tape/text_reader.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "tidemark/engine/base/error.h"
#include "tidemark/engine/tape/builder.h"
#include "tidemark/engine/tape/file_format.h"
#include "tidemark/engine/tape/text_line.h"

namespace tidemark {
namespace {

// The keys of the text form, as bits: a word takes some of them.
enum Key : unsigned {
  kOp = 1 << 0,
  kSig = 1 << 1,
  kAt = 1 << 2,
  kStream = 1 << 3,
  kScope = 1 << 4,
  kPhase = 1 << 5,
  kUnder = 1 << 6,
  kBytes = 1 << 7,
  kCategory = 1 << 8,
  kDevice = 1 << 9,
  kSubject = 1 << 10,
};
constexpr unsigned kNoKeys = 0;
constexpr unsigned kPlace = kOp | kSig | kAt | kStream | kScope | kPhase;
// What these say with their operand they do not say a second time with a key.
constexpr unsigned kOfScope = kPlace & ~kScope;
constexpr unsigned kOfCall = kPlace & ~(kOp | kSig);
constexpr unsigned kOfPhase = kPlace & ~kPhase;
// Columns that follow from the line and the history; a row that says otherwise needs words for it.
constexpr unsigned kColumns = kBytes | kCategory | kDevice;
constexpr unsigned kAllColumns = kColumns | kSubject;

class TextReader {
 public:
  explicit TextReader(const std::string& name) : name_(name) {}

  Tape read(std::string_view text) {
    expect_utf8(text, name_);
    while (!text.empty()) {
      const std::size_t length = std::min(text.find('\n'), text.size());
      line_ = TextLine(text.substr(0, length), place_of(++line_number_));
      if (!line_.empty()) read_line();
      text.remove_prefix(std::min(length + 1, text.size()));
    }
    if (!header_seen_)
      throw Error(ErrorCode::BadFormat, "the text has no tape in it", place_of(line_number_) + ":1",
                  kHeaderHint);
    return builder_.finish();
  }

 private:
  struct Word {
    std::string_view name, usage;
    std::size_t least, most;  // operands
    unsigned keys;
    void (TextReader::*read)();
  };
  struct KeyWord {
    std::string_view name;
    Key key;
    void (TextReader::*take)(const Token&);
  };
  static const std::array<Word, 25> kWords;
  static const std::array<KeyWord, 11> kKeys;
  // What a row says in place of what would follow.
  struct Columns {
    std::optional<std::int64_t> bytes;
    std::optional<Category> category;
    std::optional<DeviceId> device;
    std::optional<std::uint32_t> subject;
  };
  static constexpr const char* kHeaderHint = "the first line of a tape is: tape 1";

  std::string place_of(std::size_t line) const { return name_ + ":" + std::to_string(line); }

  void read_line() {
    if (line_.time_ns()) builder_.set_time(*line_.time_ns());
    const Token& first = line_.word();
    auto word = std::find_if(kWords.begin(), kWords.end(),
                             [&](const Word& w) { return w.name == first.value; });
    if (!header_seen_ && first.value != "tape")
      line_.fail(first.column, "this is not a tape", kHeaderHint);
    if (word == kWords.end() || !first.key.empty())
      line_.fail(first.column, "unknown word \"" + first.value.substr(0, 40) + "\"",
                 "docs/formats/tape.md lists the words");
    line_.check_names();
    run(*word);
  }

  // A table that is full knows no line; this does.
  void run(const Word& word) {
    try {
      take_keys(word);
      if (line_.operands().size() < word.least || line_.operands().size() > word.most)
        line_.fail(line_.word().column, "wrong number of operands",
                   "usage: " + std::string(word.usage));
      (this->*word.read)();
    } catch (const Error& error) {
      if (!error.where().empty()) throw;
      line_.fail(line_.word().column, error.message(), error.hint());
    }
  }

  // Moves the key=value words of the line into place_ and columns_.
  void take_keys(const Word& word) {
    place_ = {};
    columns_ = {};
    op_ = signature_ = nullptr;
    unsigned seen = 0;
    for (const Token& token : line_.keys()) {
      const KeyWord& key = key_of(token, word);
      if (seen & key.key)
        line_.fail(token.column, token.key + "= stands twice on this line", "leave one away");
      seen |= key.key;
      (this->*key.take)(token);
    }
    if (signature_ && !op_) line_.fail(1, "sig= without op=", "name the operator too");
    if (op_) place_.call = builder_.tables().call(*op_, signature_ ? *signature_ : "");
  }

  // A key that a word has no use for would be dropped in silence.
  const KeyWord& key_of(const Token& token, const Word& word) const {
    const auto key = std::find_if(kKeys.begin(), kKeys.end(),
                                  [&](const KeyWord& k) { return k.name == token.key; });
    if (key == kKeys.end())
      line_.fail(token.column, "unknown key \"" + token.key.substr(0, 40) + "\"", hint_of(word));
    if (!(word.keys & key->key))
      line_.fail(token.column, token.key + "= does not belong on this line", hint_of(word));
    return *key;
  }

  static std::string hint_of(const Word& word) {
    std::string hint = std::string(word.name) + " takes";
    for (const KeyWord& key : kKeys)
      if (word.keys & key.key) hint.append(" ").append(key.name).append("=");
    return hint + (word.keys ? "" : " no keys") + "; quote a word that has = in it";
  }

  void take_op(const Token& token) { op_ = is_dash(token) ? nullptr : &token.value; }
  void take_sig(const Token& token) { signature_ = &token.value; }
  void take_stack(const Token& token) { place_.stack = stack_named(token); }
  void take_stream(const Token& token) {
    place_.stream = builder_.tables().stream(line_.integer<std::int64_t>(token, "a stream"));
  }
  void take_scope(const Token& token) {
    place_.scope = is_dash(token) ? ScopeId() : builder_.tables().scope(token.value);
  }
  void take_phase(const Token& token) { place_.phase = line_.phase(token); }
  void take_bytes(const Token& token) {
    columns_.bytes = line_.integer<std::int64_t>(token, "a number of bytes");
  }
  void take_category(const Token& token) { columns_.category = line_.category(token); }
  void take_device(const Token& token) {
    columns_.device = is_dash(token) ? DeviceId() : builder_.tables().device(token.value);
  }
  void take_subject(const Token& token) {
    columns_.subject = line_.integer<std::uint32_t>(token, "a subject");
  }

  const Token& operand(std::size_t i) const { return line_.operands()[i]; }
  const std::string& text(std::size_t i) const { return operand(i).value; }

  // Storages are numbered as they are first named, unless a line gave them their number.
  std::uint32_t storage_at(std::size_t i) {
    const auto known = storages_.find(text(i));
    return known != storages_.end() ? known->second : number_storage(text(i), next_storage_);
  }
  std::uint32_t number_storage(const std::string& name, std::uint32_t number) {
    if (taken_.size() <= number) taken_.resize(number + std::size_t{1});
    taken_[number] = true;
    next_storage_ = std::max(next_storage_, number + 1);
    return storages_[name] = number;
  }

  // A name that a stack line gave, or FILE:LINE.
  StackId stack_named(const Token& token) {
    const std::string& text = token.value;
    if (auto known = stacks_.find(text); known != stacks_.end()) return known->second;
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos)
      line_.fail(token.column, "unknown stack \"" + text.substr(0, 40) + "\"", "write FILE:LINE");
    const auto number = line_.integer<std::uint32_t>(std::string_view(text).substr(colon + 1),
                                                     token.column, "a line");
    return builder_.tables().stack({}, text.substr(0, colon), number);
  }

  ScopeId scope_at(std::size_t i) {
    return is_dash(operand(i)) ? ScopeId() : builder_.tables().scope(text(i));
  }
  CallId call_at(std::size_t i) {
    if (!is_dash(operand(i))) return builder_.tables().call(text(i), line_.text_or_empty(i + 1));
    if (line_.operands().size() > i + 1)
      line_.fail(operand(i + 1).column, "a signature without an operator", "name the operator too");
    return {};
  }
  std::uint32_t segment_at(std::size_t i) const {
    return line_.integer<std::uint32_t>(operand(i), "a segment");
  }

  void tape() {
    if (text(0) != "1" && text(0) != "2")
      throw Error(ErrorCode::Unsupported, "tape text version " + text(0) + " is not known here",
                  place_of(line_number_), "this tidemark reads versions 1 and 2");
    header_seen_ = true;
  }
  void meta() { builder_.tables().set_meta(text(0), text(1)); }
  void device() { device_ = builder_.tables().device(text(0)); }
  void stack() {
    const auto number = line_.integer<std::uint32_t>(operand(2), "a line");
    stacks_[text(0)] =
        builder_.tables().stack(place_.stack, text(1), number, line_.text_or_empty(3));
  }
  void diagnostic() {
    for (Severity severity : {Severity::Note, Severity::Warning, Severity::Error})
      if (name_of(severity) == text(1)) {
        builder_.diagnose(text(0), severity, text(3), text(4),
                          line_.integer<std::int64_t>(operand(2), "a count"));
        return;
      }
    line_.fail(operand(1).column, "unknown severity", "one of note, warning, error");
  }
  DeviceId current_device() {
    return device_ ? device_ : device_ = builder_.tables().device("cuda:0");
  }
  void storage() {
    const auto number = line_.integer<std::uint32_t>(operand(1), "a storage's number");
    if (number >= builder_.size() + kStoragesAhead)
      line_.fail(operand(1).column, "a storage's number far ahead of the events",
                 "here it is below " + std::to_string(builder_.size() + kStoragesAhead));
    if (storages_.contains(text(0)) || (number < taken_.size() && taken_[number]))
      line_.fail(operand(0).column, "this storage or this number was named before",
                 "number a storage before its first event");
    number_storage(text(0), number);
  }

  Event draft(Kind kind) const { return builder_.draft(kind, place_); }
  Event draft_storage(Kind kind) { return builder_.draft(kind, place_, storage_at(0)); }
  Event draft_segment(Kind kind) {
    Event row = builder_.draft(kind, place_, segment_at(0));
    row.device = current_device();
    row.bytes = line_.bytes(operand(1));
    return row;
  }
  Event draft_pool(Kind kind) {
    const auto pool = line_.integer<std::uint32_t>(operand(0), "a pool");
    Event row = builder_.draft(kind, place_, pool);
    row.device = current_device();
    return row;
  }
  void write(Event row) {
    row.bytes = columns_.bytes.value_or(row.bytes);
    row.category = columns_.category.value_or(row.category);
    row.device = columns_.device.value_or(row.device);
    row.subject = columns_.subject.value_or(row.subject);
    builder_.write(row);
  }

  void alloc() {
    Event row = draft_storage(Kind::Alloc);
    row.bytes = line_.bytes(operand(1));
    if (line_.operands().size() > 2) row.category = line_.category(operand(2));
    row.device = current_device();
    write(row);
  }
  void free() { write(draft_storage(Kind::Free)); }
  void write_size(Kind kind) {
    Event row = draft_storage(kind);
    row.bytes = line_.bytes(operand(1));
    write(row);
  }
  void resize() { write_size(Kind::Resize); }
  void block() { write_size(Kind::Block); }
  void relabel() {
    Event row = draft_storage(Kind::Relabel);
    row.category = line_.category(operand(1));
    write(row);
  }
  void input() { write(draft_storage(Kind::Input)); }
  void output() { write(draft_storage(Kind::Output)); }
  void write_edge(Kind kind) {
    Event row = draft(kind);
    row.scope = scope_at(0);
    write(row);
  }
  void begin() { write_edge(Kind::ScopeBegin); }
  void end() { write_edge(Kind::ScopeEnd); }
  void write_call(Kind kind) {
    Event row = draft(kind);
    row.call = call_at(0);
    write(row);
  }
  void call() { write_call(Kind::CallBegin); }
  void return_() { write_call(Kind::CallEnd); }
  void phase() {
    Event row = draft(Kind::Phase);
    row.phase = line_.phase(operand(0));
    write(row);
  }
  void step() { write(draft(Kind::Step)); }
  void mark() {
    Event row = draft(Kind::Mark);
    row.subject = builder_.tables().strings.intern(text(0)).value;
    write(row);
  }
  void map() { write(draft_segment(Kind::SegmentMap)); }
  void unmap() { write(draft_segment(Kind::SegmentUnmap)); }
  void pool() { write(draft_pool(Kind::PoolUse)); }
  void release() { write(draft_pool(Kind::PoolRelease)); }
  void empty() { write(draft_pool(Kind::CacheEmpty)); }

  const std::string& name_;
  std::size_t line_number_ = 0;
  bool header_seen_ = false;
  TextLine line_;
  Place place_;
  Columns columns_;
  const std::string* op_ = nullptr;
  const std::string* signature_ = nullptr;
  DeviceId device_;
  TapeBuilder builder_;
  std::unordered_map<std::string, std::uint32_t> storages_;
  std::vector<bool> taken_;  // by number
  std::uint32_t next_storage_ = 0;
  std::unordered_map<std::string, StackId> stacks_;
};

const std::array<TextReader::KeyWord, 11> TextReader::kKeys = {{
    {"op", kOp, &TextReader::take_op},
    {"sig", kSig, &TextReader::take_sig},
    {"at", kAt, &TextReader::take_stack},
    {"stream", kStream, &TextReader::take_stream},
    {"scope", kScope, &TextReader::take_scope},
    {"phase", kPhase, &TextReader::take_phase},
    {"under", kUnder, &TextReader::take_stack},
    {"bytes", kBytes, &TextReader::take_bytes},
    {"category", kCategory, &TextReader::take_category},
    {"device", kDevice, &TextReader::take_device},
    {"subject", kSubject, &TextReader::take_subject},
}};

const std::array<TextReader::Word, 25> TextReader::kWords = {{
    {"tape", "tape 1", 1, 1, kNoKeys, &TextReader::tape},
    {"meta", "meta KEY VALUE", 2, 2, kNoKeys, &TextReader::meta},
    {"device", "device NAME", 1, 1, kNoKeys, &TextReader::device},
    {"stack", "stack NAME FILE LINE [FUNCTION] [under=NAME]", 3, 4, kUnder, &TextReader::stack},
    {"diagnostic", "diagnostic CODE SEVERITY COUNT WHERE MESSAGE", 5, 5, kNoKeys,
     &TextReader::diagnostic},
    {"storage", "storage NAME NUMBER", 2, 2, kNoKeys, &TextReader::storage},
    {"alloc", "alloc STORAGE BYTES [CATEGORY]", 2, 3, kPlace | kBytes, &TextReader::alloc},
    {"free", "free STORAGE", 1, 1, kPlace | kColumns, &TextReader::free},
    {"resize", "resize STORAGE BYTES", 2, 2, kPlace | kColumns, &TextReader::resize},
    {"relabel", "relabel STORAGE CATEGORY", 2, 2, kPlace | kBytes | kDevice, &TextReader::relabel},
    {"block", "block STORAGE BYTES", 2, 2, kPlace | kColumns, &TextReader::block},
    {"begin", "begin SCOPE", 1, 1, kOfScope | kAllColumns, &TextReader::begin},
    {"end", "end SCOPE", 1, 1, kOfScope | kAllColumns, &TextReader::end},
    {"call", "call OPERATOR [SIGNATURE]", 1, 2, kOfCall | kAllColumns, &TextReader::call},
    {"return", "return OPERATOR [SIGNATURE]", 1, 2, kOfCall | kAllColumns, &TextReader::return_},
    {"phase", "phase PHASE", 1, 1, kOfPhase | kAllColumns, &TextReader::phase},
    {"step", "step", 0, 0, kPlace | kAllColumns, &TextReader::step},
    {"mark", "mark TEXT", 1, 1, kPlace | kColumns, &TextReader::mark},
    {"input", "input STORAGE", 1, 1, kPlace | kColumns, &TextReader::input},
    {"output", "output STORAGE", 1, 1, kPlace | kColumns, &TextReader::output},
    {"map", "map SEGMENT BYTES", 2, 2, kPlace | kBytes | kCategory, &TextReader::map},
    {"unmap", "unmap SEGMENT BYTES", 2, 2, kPlace | kBytes | kCategory, &TextReader::unmap},
    {"pool", "pool POOL", 1, 1, kPlace | kBytes | kCategory, &TextReader::pool},
    {"release", "release POOL", 1, 1, kPlace | kBytes | kCategory, &TextReader::release},
    {"empty", "empty POOL", 1, 1, kPlace | kBytes | kCategory, &TextReader::empty},
}};

}  // namespace

Tape read_tape_text(std::string_view text, const std::string& name) {
  return TextReader(name).read(text);
}

}  // namespace tidemark

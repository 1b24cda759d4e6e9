// Reads the settings piece by piece: a table of options, each with its reader.
#include "tidemark/engine/allocator/settings.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <vector>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

constexpr std::int64_t kMostMiB = AllocatorSettings::kUnlimited / AllocatorSettings::kMiB;

struct SettingsToken {
  std::string text;
  std::size_t column = 0;  // from 1
};

bool is_mark(char c) { return c == ',' || c == ':' || c == '[' || c == ']'; }
bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Words and marks; blanks inside a word are left out, as PyTorch does.
std::vector<SettingsToken> tokens_of(std::string_view text) {
  std::vector<SettingsToken> tokens;
  bool in_word = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_space(text[i])) continue;
    if (is_mark(text[i]) || !in_word) tokens.push_back({{}, i + 1});
    tokens.back().text += text[i];
    in_word = !is_mark(text[i]);
  }
  return tokens;
}

std::string quoted_start(const std::string& text) { return "\"" + text.substr(0, 40) + "\""; }

class Reader {
 public:
  explicit Reader(std::string_view text) : tokens_(tokens_of(text)), length_(text.size()) {}

  bool is_done() const { return next_ == tokens_.size(); }
  bool sees(const char* text) const { return !is_done() && tokens_[next_].text == text; }
  SettingsToken word(const std::string& wanted) {
    if (is_done() || is_mark(tokens_[next_].text[0])) refuse(wanted);
    return tokens_[next_++];
  }
  void mark(const char* text) {
    if (!sees(text)) refuse("\"" + std::string(text) + "\"");
    ++next_;
  }
  // The value after an option's name.
  SettingsToken value(const std::string& wanted) {
    mark(":");
    return word(wanted);
  }
  // A word, or a list in brackets, of an option that does not concern us.
  void skip_value() {
    mark(":");
    if (!sees("[")) return static_cast<void>(word("a value"));
    while (!sees("]")) {
      if (is_done()) refuse("\"]\"");
      ++next_;
    }
    ++next_;
  }
  [[noreturn]] void refuse(const std::string& wanted) const {
    if (is_done()) fail(length_ + 1, "the settings end", "expected " + wanted);
    fail(tokens_[next_].column, "unexpected " + quoted_start(tokens_[next_].text),
         "expected " + wanted);
  }
  [[noreturn]] static void fail(std::size_t column, const std::string& message,
                                const std::string& hint) {
    throw Error(ErrorCode::BadArgument, message,
                "allocator settings, column " + std::to_string(column), hint);
  }

 private:
  std::vector<SettingsToken> tokens_;
  std::size_t length_, next_ = 0;
};

std::int64_t number_of(const SettingsToken& token, std::int64_t least, const std::string& wanted) {
  std::int64_t value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [stop, problem] = std::from_chars(token.text.data(), end, value);
  if (problem != std::errc() || stop != end || value < least)
    Reader::fail(token.column, "unexpected " + quoted_start(token.text), "expected " + wanted);
  return value;
}

std::int64_t read_mib(Reader& reader, std::int64_t least) {
  const std::string wanted = "MiB as a whole number from " + std::to_string(least) + " up";
  return std::min(number_of(reader.value(wanted), least, wanted), kMostMiB) *
         AllocatorSettings::kMiB;
}

bool read_truth(Reader& reader) {
  const SettingsToken token = reader.value("True or False");
  if (token.text != "True" && token.text != "False")
    Reader::fail(token.column, "unexpected " + quoted_start(token.text), "expected True or False");
  return token.text == "True";
}

std::int64_t power_of_two(const SettingsToken& token, bool may_be_zero) {
  const std::string wanted = may_be_zero ? "a power of two, or 0 for none" : "a power of two";
  const std::int64_t value = number_of(token, may_be_zero ? 0 : 1, wanted);
  if (value != 0 && !std::has_single_bit(static_cast<std::uint64_t>(value)))
    Reader::fail(token.column, "unexpected " + quoted_start(token.text), "expected " + wanted);
  return value;
}

// [256:1,512:2,>:4]: MiB and divisions. The first counts for what is smaller, too; ">" for all
// that is larger than the last.
void read_intervals(Reader& reader, AllocatorSettings& settings) {
  auto& divisions = settings.power2_divisions;
  bool is_first = true;
  std::size_t last = 0;
  while (!reader.sees("]")) {
    const SettingsToken bound = reader.word("MiB, or >");
    const std::int64_t count =
        power_of_two(reader.value("the number of divisions"), /*may_be_zero=*/true);
    if (bound.text == ">") {
      std::fill(divisions.begin() + static_cast<std::ptrdiff_t>(last) + 1, divisions.end(), count);
    } else {
      const auto mib = static_cast<std::uint64_t>(power_of_two(bound, /*may_be_zero=*/false));
      last = std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(mib)) - 1,
                                   divisions.size() - 1);
      if (is_first) std::fill_n(divisions.begin(), last, count);
      divisions[last] = count;
      is_first = false;
    }
    if (!reader.sees("]")) reader.mark(",");
  }
  reader.mark("]");
}

void read_divisions(Reader& reader, AllocatorSettings& settings) {
  reader.mark(":");
  if (reader.sees("[")) {
    reader.mark("[");
    return read_intervals(reader, settings);
  }
  settings.power2_divisions.fill(
      power_of_two(reader.word("the number of divisions"), /*may_be_zero=*/false));
}

void read_threshold(Reader& reader, AllocatorSettings& settings) {
  const std::string wanted = "a number between 0 and 1";
  const SettingsToken token = reader.value(wanted);
  double value = 0;
  const char* end = token.text.data() + token.text.size();
  const auto [stop, problem] = std::from_chars(token.text.data(), end, value);
  if (problem != std::errc() || stop != end || !(value > 0 && value < 1))
    Reader::fail(token.column, "unexpected " + quoted_start(token.text), "expected " + wanted);
  settings.garbage_threshold = value;
}

void read_backend(Reader& reader, AllocatorSettings& settings) {
  const SettingsToken token = reader.value("native or cudaMallocAsync");
  if (token.text != "native" && token.text != "cudaMallocAsync")
    Reader::fail(token.column, "unexpected " + quoted_start(token.text),
                 "expected native or cudaMallocAsync");
  settings.is_native = token.text == "native";
}

struct Option {
  const char* name;
  void (*read)(Reader& reader, AllocatorSettings& settings);
};
void pass_over(Reader& reader, AllocatorSettings&) { reader.skip_value(); }

constexpr Option kOptions[] = {
    {"max_split_size_mb",
     [](Reader& r, AllocatorSettings& s) { s.max_split_bytes = read_mib(r, 20); }},
    {"max_non_split_rounding_mb",
     [](Reader& r, AllocatorSettings& s) { s.non_split_slack_bytes = read_mib(r, 20); }},
    {"large_segment_size_mb",
     [](Reader& r, AllocatorSettings& s) { s.large_segment_bytes = read_mib(r, 11); }},
    {"roundup_power2_divisions", &read_divisions},
    {"garbage_collection_threshold", &read_threshold},
    {"expandable_segments",
     [](Reader& r, AllocatorSettings& s) { s.expandable_segments = read_truth(r); }},
    {"backend", &read_backend},
    {"release_lock_on_cudamalloc", &pass_over},
    {"release_lock_on_hipmalloc", &pass_over},
    {"throw_on_cudamalloc_oom", &pass_over},
    {"graph_capture_record_stream_reuse", &pass_over},
    {"pinned_use_cuda_host_register", &pass_over},
    {"pinned_use_hip_host_register", &pass_over},
    {"pinned_num_register_threads", &pass_over},
    {"pinned_use_background_threads", &pass_over},
    {"pinned_reserve_segment_size_mb", &pass_over},
    {"pinned_max_round_threshold_mb", &pass_over},
    {"pinned_max_cached_size_mb", &pass_over},
    {"per_process_memory_fraction", &pass_over},
};

void read_option(Reader& reader, AllocatorSettings& settings) {
  const SettingsToken name = reader.word("the name of an option");
  for (const Option& option : kOptions)
    if (name.text == option.name) return option.read(reader, settings);
  Reader::fail(name.column, "unknown option " + quoted_start(name.text),
               "as in expandable_segments:True, max_split_size_mb:128, "
               "roundup_power2_divisions:4, garbage_collection_threshold:0.8");
}

}  // namespace

AllocatorSettings parse_allocator_settings(std::string_view text) {
  AllocatorSettings settings;
  Reader reader(text);
  while (!reader.is_done()) {
    read_option(reader, settings);
    if (!reader.is_done()) reader.mark(",");
  }
  return settings;
}

TieBreak tie_break_of(std::string_view torch_version) {
  int major = 0, minor = 0;
  const char* end = torch_version.data() + torch_version.size();
  const auto [dot, problem] = std::from_chars(torch_version.data(), end, major);
  if (problem == std::errc() && dot != end && *dot == '.') std::from_chars(dot + 1, end, minor);
  return major > 2 || (major == 2 && minor > 13) ? TieBreak::Registration : TieBreak::Address;
}

}  // namespace tidemark

// The ledger of odd data: each kind of problem once, with its count and first place.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

enum class Severity : std::uint8_t { Note, Warning, Error };

std::string_view name_of(Severity severity);
// Something is wrong; a note only tells.
constexpr bool is_problem(Severity severity) { return severity != Severity::Note; }

struct Diagnostic {
  std::string code;  // stable, for scripts: "double-free"
  Severity severity = Severity::Note;
  std::int64_t count = 0;
  std::string where;    // the first place: "event 12", "line 3"
  std::string message;  // one sentence for people
  bool operator==(const Diagnostic&) const = default;
};

class Diagnostics {
 public:
  // Counts a problem; the first report of a code keeps its place and sentence, and the worst its
  // severity.
  void add(std::string_view code, Severity severity, std::string where, std::string message,
           std::int64_t count = 1);
  void add(const Diagnostics& others);

  const std::vector<Diagnostic>& all() const { return all_; }
  bool empty() const { return all_.empty(); }
  bool has_errors() const;
  // How often something was wrong, of all kinds together; notes do not count.
  std::int64_t problem_count() const;
  // Those that are problems, or those that are not.
  Diagnostics problems() const;
  Diagnostics notes() const;
  const Diagnostic* find(std::string_view code) const;
  bool operator==(const Diagnostics&) const = default;

 private:
  template <class IsWanted>
  Diagnostics only(IsWanted is_wanted) const;

  std::vector<Diagnostic> all_;
  std::map<std::string, std::size_t, std::less<>> index_;  // by code
};

}  // namespace tidemark

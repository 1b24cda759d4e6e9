// A file of which nobody knows yet what it is: its name, its first bytes, an archive's members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

class Candidate {
 public:
  // Throws Error for what is missing, a directory, a pipe, or unreadable.
  explicit Candidate(const std::string& path);
  // Bytes that stand for the file of this name; they must outlive it.
  Candidate(std::string name, std::span<const std::byte> bytes);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  // The first bytes, 4 KiB at most.
  std::string_view beginning() const { return beginning_; }
  bool is_named(std::string_view ending) const { return path_.ends_with(ending); }
  // Printable characters and line ends, as far as one can see.
  bool is_text() const;

  bool is_zip() const;
  // The members of a zip archive, in its order; none for other files, for damaged archives, and in
  // builds without libzip. Found out when first asked for.
  const std::vector<std::string>& members() const;
  bool has_member(std::string_view ending) const;
  // The first bytes of the first member that is named so.
  std::string beginning_of_member(std::string_view ending) const;

 private:
  std::string path_, beginning_;
  std::uint64_t size_ = 0;
  std::span<const std::byte> bytes_;  // instead of a file
  mutable std::optional<std::vector<std::string>> members_;
};

}  // namespace tidemark

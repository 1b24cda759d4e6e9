// A zip archive in a file or in memory: the names of its members, and single members read.
//
// A file is opened by its path and read where a member lies; nothing else of it comes into memory.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tidemark/readers/progress.h"

struct zip;

namespace tidemark {

class ZipArchive {
 public:
  // Both throw Error(BadFormat) for what is no archive, or a damaged one. The bytes must outlive
  // the archive.
  explicit ZipArchive(const std::string& path);
  explicit ZipArchive(std::span<const std::byte> bytes);

  std::vector<std::string> names() const;
  // The whole member, by its place in names(). Throws Error(BadFormat) for one that is damaged or
  // claims to be larger than it can be.
  std::string read(std::size_t member, const Progress& progress = {}) const;
  // At most this many of its first bytes; fewer where it is damaged.
  std::string read_beginning(std::size_t member, std::size_t most) const;

 private:
  struct Discard {
    void operator()(zip* archive) const;
  };
  std::unique_ptr<zip, Discard> zip_;
};

}  // namespace tidemark

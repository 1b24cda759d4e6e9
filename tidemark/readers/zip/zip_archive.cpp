// Reads archives with libzip.
#include "tidemark/readers/zip/zip_archive.h"

#include <zip.h>

#include <algorithm>

#include "tidemark/engine/base/error.h"

namespace tidemark {
namespace {

constexpr zip_uint64_t kMostBytes = 1ull << 30;  // the JSON of a million nodes has less
constexpr zip_uint64_t kMostPacked = 1100;       // what deflate can make of one byte, and some
constexpr std::size_t kChunkBytes = 4 << 20;

struct CloseFile {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};
using File = std::unique_ptr<zip_file_t, CloseFile>;

[[noreturn]] void refuse(const char* why) {
  throw Error(ErrorCode::BadFormat, why, "archive", "write it again, or copy it again");
}

constexpr const char* kNoArchive = "this is no zip archive, or a damaged one";

zip_t* open(zip_source_t* source, zip_error_t& error) {
  zip_t* const opened = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : nullptr;
  if (source && !opened) zip_source_free(source);
  zip_error_fini(&error);
  if (!opened) refuse(kNoArchive);
  return opened;
}

zip_t* open(const std::string& path) {
  zip_error_t error;
  zip_error_init(&error);
  return open(zip_source_file_create(path.c_str(), 0, 0, &error), error);
}

zip_t* open(std::span<const std::byte> bytes) {
  zip_error_t error;
  zip_error_init(&error);
  return open(zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error), error);
}

std::size_t size_of(zip_t* archive, std::size_t member) {
  zip_stat_t facts;
  constexpr zip_uint64_t kBoth = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE;
  if (zip_stat_index(archive, member, 0, &facts) != 0 || (facts.valid & kBoth) != kBoth)
    refuse("a member of the archive has no size");
  if (facts.size > kMostBytes || facts.size / kMostPacked > facts.comp_size)
    refuse("a member of the archive claims to be larger than it can be");
  return facts.size;
}

}  // namespace

void ZipArchive::Discard::operator()(zip* archive) const { zip_discard(archive); }

ZipArchive::ZipArchive(const std::string& path) : zip_(open(path)) {}
ZipArchive::ZipArchive(std::span<const std::byte> bytes) : zip_(open(bytes)) {}

std::vector<std::string> ZipArchive::names() const {
  std::vector<std::string> names;
  const zip_int64_t count = zip_get_num_entries(zip_.get(), 0);
  for (zip_int64_t i = 0; i < count; ++i) {
    const char* name = zip_get_name(zip_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_ENC_RAW);
    names.emplace_back(name ? name : "");
  }
  return names;
}

std::string ZipArchive::read(std::size_t member, const Progress& progress) const {
  const std::size_t size = size_of(zip_.get(), member);
  const File file(zip_fopen_index(zip_.get(), member, 0));
  if (!file) refuse("a member of the archive cannot be opened");
  std::string text(size, '\0');
  for (std::size_t done = 0; done < size;) {
    const std::size_t wanted = std::min(kChunkBytes, size - done);
    const zip_int64_t got = zip_fread(file.get(), text.data() + done, wanted);
    if (got <= 0) refuse("a member of the archive is damaged");
    done += static_cast<std::size_t>(got);
    if (progress.listener) progress.listener(done, size, progress.context);
  }
  // The checksum is compared when there is nothing left to read.
  char more = 0;
  if (zip_fread(file.get(), &more, 1) != 0) refuse("a member of the archive is damaged");
  return text;
}

std::string ZipArchive::read_beginning(std::size_t member, std::size_t most) const {
  const File file(zip_fopen_index(zip_.get(), member, 0));
  if (!file) return {};
  std::string text(most, '\0');
  const zip_int64_t got = zip_fread(file.get(), text.data(), text.size());
  text.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return text;
}

}  // namespace tidemark

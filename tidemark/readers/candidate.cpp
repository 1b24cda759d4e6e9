// Looks at the beginning of a file and, in an archive, at the list of its members.
#include "tidemark/readers/candidate.h"

#include <algorithm>

#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/engine/base/error.h"
#ifdef TIDEMARK_HAS_ZIP
#include "tidemark/readers/zip/zip_archive.h"
#endif

namespace tidemark {
namespace {

constexpr std::size_t kLookedAt = 4096;

std::string beginning_of(ByteSource& source) {
  std::string text(std::min<std::uint64_t>(kLookedAt, source.remaining()), '\0');
  text.resize(source.read(std::as_writable_bytes(std::span(text))));
  return text;
}

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 32 || c == '\n' || c == '\r' || c == '\t' || c == '\f';
}

#ifdef TIDEMARK_HAS_ZIP
ZipArchive open(const std::string& path, std::span<const std::byte> bytes) {
  return bytes.empty() ? ZipArchive(path) : ZipArchive(bytes);
}
#endif

}  // namespace

Candidate::Candidate(const std::string& path) : path_(path) {
  FileSource source(path);
  size_ = source.remaining();
  beginning_ = beginning_of(source);
}

Candidate::Candidate(std::string name, std::span<const std::byte> bytes)
    : path_(std::move(name)), size_(bytes.size()), bytes_(bytes) {
  MemorySource source(bytes);
  beginning_ = beginning_of(source);
}

bool Candidate::is_text() const {
  return !beginning_.empty() && std::all_of(beginning_.begin(), beginning_.end(), is_plain);
}

bool Candidate::is_zip() const {
  // The second is an archive without members.
  return beginning_.starts_with("PK\3\4") || beginning_.starts_with("PK\5\6");
}

const std::vector<std::string>& Candidate::members() const {
  if (!members_) {
    members_.emplace();
#ifdef TIDEMARK_HAS_ZIP
    try {
      if (is_zip()) members_ = open(path_, bytes_).names();
    } catch (const Error&) {
      // A damaged archive has no members that anybody could read.
    }
#endif
  }
  return *members_;
}

bool Candidate::has_member(std::string_view ending) const {
  return std::any_of(members().begin(), members().end(),
                     [&](const std::string& name) { return name.ends_with(ending); });
}

std::string Candidate::beginning_of_member(std::string_view ending) const {
#ifdef TIDEMARK_HAS_ZIP
  for (std::size_t i = 0; i < members().size(); ++i)
    if (members()[i].ends_with(ending)) return open(path_, bytes_).read_beginning(i, kLookedAt);
#endif
  (void)ending;
  return {};
}

}  // namespace tidemark

// Puts sources on top of each other: the file, who watches it, who unpacks it.
#include "tidemark/readers/gzip/opened_document.h"

#include "tidemark/engine/base/error.h"
#include "tidemark/readers/unread/first_bytes.h"
#ifdef TIDEMARK_HAS_GZIP
#include "tidemark/readers/gzip/gzip_source.h"
#endif

namespace tidemark {
namespace {

std::unique_ptr<ByteSource> unpacking([[maybe_unused]] ByteSource& packed) {
#ifdef TIDEMARK_HAS_GZIP
  return std::make_unique<GzipSource>(packed);
#else
  throw Error(ErrorCode::Unsupported, "this build cannot unpack gzip", {}, "unpack it first");
#endif
}

}  // namespace

std::string unpacked_beginning(const Candidate& file) {
  constexpr std::size_t kLookedAt = 4096;
  if (!is_gzip(file.beginning())) return std::string(file.beginning());
  std::string text(kLookedAt, '\0');
  try {
    MemorySource packed(file.beginning());
    const auto unpacked = unpacking(packed);
    text.resize(unpacked->read(std::as_writable_bytes(std::span(text))));
  } catch (const Error&) {
    text.clear();  // nothing can be seen of it
  }
  return text;
}

OpenedDocument::OpenedDocument(const Candidate& file, const Progress& progress)
    : file_(std::make_unique<FileSource>(file.path())), top_(file_.get()) {
  if (progress.listener) {
    watched_ = std::make_unique<WatchedSource>(*top_, progress.listener, progress.context);
    top_ = watched_.get();
  }
  if (is_gzip(file.beginning())) {
    unpacked_ = unpacking(*top_);
    top_ = unpacked_.get();
  }
}

}  // namespace tidemark

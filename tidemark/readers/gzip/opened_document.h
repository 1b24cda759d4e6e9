// A file that may be packed with gzip, as the bytes of what is in it, with progress.
#pragma once

#include <memory>
#include <string>

#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/readers/candidate.h"
#include "tidemark/readers/progress.h"

namespace tidemark {

// The first bytes of what is in the file; those of the file itself where it is not packed.
std::string unpacked_beginning(const Candidate& file);

class OpenedDocument {
 public:
  // Throws Error(Unsupported) for a packed file in builds without zlib.
  OpenedDocument(const Candidate& file, const Progress& progress);
  ByteSource& source() { return *top_; }

 private:
  std::unique_ptr<ByteSource> file_, watched_, unpacked_;
  ByteSource* top_;
};

}  // namespace tidemark

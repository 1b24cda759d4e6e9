// Opens a tape file of either form.
#pragma once

#include <string>

#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/engine/tape/codec.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

struct OpenOptions {
  const Codec* codec = nullptr;                   // to unpack compressed tapes
  WatchedSource::Listener on_progress = nullptr;  // called now and then while reading
  void* progress_context = nullptr;
};

// Text or binary, told apart by the first byte. Throws Error for what is not a tape.
Tape open_tape(const std::string& path, const OpenOptions& options = {});
Tape read_tape(ByteSource& source, const std::string& name, const OpenOptions& options = {});

}  // namespace tidemark

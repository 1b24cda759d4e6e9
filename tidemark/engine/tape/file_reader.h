// Reads the binary .tape file. Survives any bytes.
#pragma once

#include <string>

#include "tidemark/engine/base/byte_stream.h"
#include "tidemark/engine/tape/codec.h"
#include "tidemark/engine/tape/tape.h"

namespace tidemark {

// A file that was cut or damaged is read up to its last whole block, with a diagnostic. Throws
// Error when nothing of it can be used, or when the source cannot be read. `name` is what messages
// call the source.
Tape read_tape_file(ByteSource& source, const std::string& name, const Codec* codec = nullptr);

}  // namespace tidemark

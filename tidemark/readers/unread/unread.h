// Kinds of files that are known by sight but not read: each says what to do instead.
#pragma once

#include "tidemark/readers/reader.h"

namespace tidemark {

// PyTorch's own files.
extern const Reader kMemorySnapshot, kCompiledModel, kTorchScript, kCheckpoint;
// Files that people have beside them.
extern const Reader kPythonScript, kSafetensors, kOnnx;
// What is left.
extern const Reader kOtherPickle, kOtherZip, kGzip, kOtherJson, kOtherText, kOther;

}  // namespace tidemark

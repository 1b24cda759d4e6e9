// Whom to tell how far a long read has come.
#pragma once

#include "tidemark/engine/base/byte_stream.h"

namespace tidemark {

// Without a listener nothing is told.
struct Progress {
  WatchedSource::Listener listener = nullptr;
  void* context = nullptr;
};

}  // namespace tidemark

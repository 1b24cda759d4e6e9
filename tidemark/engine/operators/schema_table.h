// The generated table of what operators take and write; tidemark/engine/operators/schemas.h reads
// it.
#pragma once

namespace tidemark::operators {

// "NAME OVERLOAD|OVERLOAD;" and so on; names without "aten::".
extern const char kSchemas[];

}  // namespace tidemark::operators

// Touches of memory that is closed: whoever fills it is called, and the touch happens again.
#pragma once

namespace tidemark::phantom {

// True when the address is readable now; false when it is none of ours.
using FillAt = bool (*)(const void* address);

// From now on SIGSEGV asks `fill` first, and then whom it went to before. May be called again, and
// is, by one thread at a time: a program may have put a handler of its own over ours.
void hear_touches(FillAt fill);

}  // namespace tidemark::phantom

// Lines of source, operators and shapes by number, for trackers that want to know whence a storage
// comes.
//
// They are the process's own: a note has room for numbers only, and several trackers may hear it.
// Each tracker's tape has tables of its own.
#pragma once

#include <cstdint>
#include <string_view>

#include "tidemark/engine/tape/tables.h"
#include "tidemark/libtorch/recorder/forks.h"

namespace tidemark::recorder {

// Where a thread is: both may be unknown.
struct Origin {
  StackId line;
  CallId call;
  friend bool operator==(const Origin&, const Origin&) = default;
};

class Origins {
 public:
  static Origins& instance() noexcept { return *the_one_; }

  StackId line(std::string_view file, std::uint32_t number, std::string_view function);
  CallId call(std::string_view op, std::string_view signature);
  // The same operator, with what it returned.
  CallId with_result(CallId call, std::string_view result);
  // The rows in other tables; empty for none.
  StackId line_in(Tables& tables, StackId line);
  CallId call_in(Tables& tables, CallId call);

 private:
  Origins() = default;
  static Origins* const the_one_;  // never destroyed, as the recorder

  ForkSafeMutex lock_{LockPlace::Origins};
  Tables tables_;
};

// Finds the line of the program that this thread runs; set by the Python side. Where nobody who
// holds the interpreter's lock can wait for the thread.
using FindLine = StackId (*)();
void set_line_finder(FindLine find);
StackId line_here();

}  // namespace tidemark::recorder

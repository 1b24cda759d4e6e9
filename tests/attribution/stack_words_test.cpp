// Calls that are under way are found among the words of the stack, those that are not are not.
#include "tidemark/libtorch/recorder/stack_words.h"

#include <gtest/gtest.h>

#include <thread>

namespace tidemark::recorder {
namespace {

constexpr std::size_t kReachBytes = 16384;

// No program has code there, and no number is like it.
constexpr CodeRange kNowhere{0x5a5a'5a5a'0000, 0x5a5a'5a5a'1000};
CodeRange g_caller;  // not on the stack, where it would find itself

// Where the caller's own code goes on after a call: a range of one address.
void set_caller(void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(__builtin_extract_return_addr(address));
  g_caller = {at - 1, at};
}

template <int kDeep>
[[gnu::noinline]] bool looks_from_below(const CodeRange& code, std::size_t reach_bytes) {
  [[maybe_unused]] volatile char frame[64];
  frame[0] = 1;
  bool is_found;
  if constexpr (kDeep == 0) is_found = stack_may_return_into(code, reach_bytes);
  else is_found = looks_from_below<kDeep - 1>(code, reach_bytes);
  frame[1] = is_found;  // no call in the place of this one
  return is_found;
}

[[gnu::noinline]] bool finds_its_caller(std::size_t reach_bytes) {
  set_caller(__builtin_return_address(0));
  const volatile bool is_found = looks_from_below<10>(g_caller, reach_bytes);
  return is_found;
}

TEST(StackWords, a_caller_ten_calls_above_is_found) {
  const volatile bool is_found = finds_its_caller(kReachBytes);
  EXPECT_TRUE(is_found);
}

TEST(StackWords, a_caller_out_of_reach_is_not) {
  const volatile bool is_found = finds_its_caller(64);
  EXPECT_FALSE(is_found);
}

TEST(StackWords, code_that_nobody_called_is_not_found) {
  EXPECT_FALSE(stack_may_return_into(kNowhere, kReachBytes));
  EXPECT_FALSE(stack_may_return_into({}, kReachBytes));
}

TEST(StackWords, the_end_of_a_threads_stack_ends_the_search) {
  bool is_found = true;
  std::thread([&] { is_found = stack_may_return_into(kNowhere, std::size_t{1} << 40); }).join();
  EXPECT_FALSE(is_found);
}

}  // namespace
}  // namespace tidemark::recorder

// Which calls of CPU operators can be written down in place of being run.
//
// Only such can as give every element the same bits whatever thread, part or order it is computed
// in, and of which it is known what they take from a random generator.
#pragma once

#include <optional>
#include <string_view>

#include "tidemark/libtorch/phantom/kernel/call_frame.h"
#include "tidemark/libtorch/phantom/values/hollow_program.h"

namespace tidemark::phantom {

// What an operator does to its first argument.
enum class Role : std::uint8_t {
  Fill,        // sets every value
  Draw,        // sets every value, at random
  Copy,        // sets every value, from another tensor
  Change,      // arithmetic in place with numbers
  Arithmetic,  // the same into a new tensor
};

struct HollowOperator {
  std::string_view name;
  Role role;
  std::string_view in_place = {};  // of arithmetic: what does it to a copy
};

// Null for an operator that is always run.
const HollowOperator* find_hollow_operator(const c10::OperatorName& name);

// The call as a step, but for what comes before it and what it draws from; nothing where it must
// be run.
std::optional<Step> draft_step(Role role, const CallFrame& frame);
// True of fill_(0) and zero_().
bool fills_with_zeros(const CallFrame& frame);
// True when a number is added or subtracted as it is, or nothing is.
bool has_no_factor(const CallFrame& frame);
// A number, or a single one in a tensor of the CPU.
bool is_number(const c10::IValue& value);

// What a call of Role::Draw draws from, and how much.
at::Generator generator_of(const CallFrame& frame);
std::optional<std::uint64_t> draws_of(const CallFrame& frame);

}  // namespace tidemark::phantom

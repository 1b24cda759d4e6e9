// What people see when something goes wrong: one line that says what and where, one that helps.
#pragma once

#include <string_view>

#include "tidemark/cli/verb.h"

namespace tidemark::cli {

// "tidemark: MESSAGE", and the hint below it when there is one. Returns kFailed.
int fail(std::string_view message, std::string_view hint = {});

// Runs the action; whatever it throws ends here, as a message and an exit code.
int run_guarded(const Action& action);

}  // namespace tidemark::cli

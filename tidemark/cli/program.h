// From the words of the command line to an exit code.
#pragma once

namespace tidemark::cli {

int run_program(int argc, char** argv);

}  // namespace tidemark::cli

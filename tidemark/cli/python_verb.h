// Verbs that run a script: the Python beside this program does the work.
#pragma once

namespace tidemark::cli {

// Hands the whole command line to `python -m tidemark`. Returns only if that could not be started.
int run_in_python(int argc, char** argv);

}  // namespace tidemark::cli

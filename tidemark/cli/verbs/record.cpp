// `tidemark record`: starts the Python of this environment, where the script is run.
#include "tidemark/cli/python_verb.h"
#include "tidemark/cli/verbs/catalogue.h"

namespace tidemark::cli {

const Verb kRecord = {"record", "runs a script as it is: where does its memory go?", "", nullptr,
                      &run_in_python};

}  // namespace tidemark::cli

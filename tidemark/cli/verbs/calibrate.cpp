// `tidemark calibrate`: starts the Python of this environment, where the GPU is asked.
#include "tidemark/cli/python_verb.h"
#include "tidemark/cli/verbs/catalogue.h"

namespace tidemark::cli {

const Verb kCalibrate = {"calibrate", "measures on a GPU what operators take inside", "", nullptr,
                         &run_in_python};

}  // namespace tidemark::cli

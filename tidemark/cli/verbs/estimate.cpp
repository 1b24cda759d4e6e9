// `tidemark estimate`: starts the Python of this environment, where the script is run.
#include "tidemark/cli/python_verb.h"
#include "tidemark/cli/verbs/catalogue.h"

namespace tidemark::cli {

const Verb kEstimate = {"estimate", "runs a training script on virtual GPUs: will it fit?", "",
                        nullptr, &run_in_python};

}  // namespace tidemark::cli

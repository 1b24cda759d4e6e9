// `tidemark estimate`: starts the Python of this environment, where the script is run.
#include "python_verb.h"
#include "verbs/catalogue.h"

namespace tidemark::cli {

const Verb kEstimate = {"estimate", "runs a training script on virtual GPUs: will it fit?", "",
                        nullptr, &run_in_python};

}  // namespace tidemark::cli

// The category of every version of every storage, found from data flow.
#pragma once

#include <vector>

#include "tidemark/engine/dataflow/labels.h"

namespace tidemark::dataflow {

// What the passes read.
struct Known {
  const Recording& recording;
  const Tree& tree;
  const Keys& keys;
  const Flow& flow;
};

// Seven passes, each on what the ones before it found: gradients and temporaries, parameters that
// were told, inputs, parameters by their use, activations, optimizer states, autograd's own.
Labels find_labels(const Known& known);

// By row of a version: a node uses or makes it, or it is the first of a storage named with its
// tensor's category.
std::vector<bool> versions_in_use(const Known& known, const Labels& labels);

// By tensor: a gradient or parameter flows into it, in whichever version.
std::vector<bool> depend_on_gradients(const Known& known, const Labels& labels);

}  // namespace tidemark::dataflow

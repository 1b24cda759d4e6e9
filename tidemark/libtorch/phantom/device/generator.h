// The random generators of the virtual GPUs: seeds and offsets, no numbers.
#pragma once

#include <ATen/core/Generator.h>

namespace tidemark::phantom {

at::Generator make_generator(c10::DeviceIndex device);
// The device's own generator, made on first use.
const at::Generator& default_generator(c10::DeviceIndex device);

}  // namespace tidemark::phantom

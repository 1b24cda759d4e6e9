// CPU tensors whose values came from a GPU that has none: what goes back from them is assumed.
#pragma once

#include <ATen/core/Tensor.h>

namespace tidemark::phantom {

void mark_assumed_on_host(const at::Tensor& host);
// The same, and nobody knew any of them: zeros stand there.
void mark_made_up_on_host(const at::Tensor& host);
bool has_assumed_hosts();  // one of them at least
bool is_assumed_on_host(const at::Tensor& host);
bool is_made_up_on_host(const c10::StorageImpl& host);
void forget_hosts();

}  // namespace tidemark::phantom

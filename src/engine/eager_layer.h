// Decoder layers as eager PyTorch runs them: norms, rotary embedding and softmax as chains of primitives.
#pragma once

#include <atb/graph.h>

namespace atb {

/// LLaMA's layers at the sizes of the 7B model in the spelling of Hugging Face's eager attention: statistics in fp32,
/// the cache grown by concatenation, scale and mask as operators of their own.
Graph eager_layers(int layers);

/// Operators that read or write a tensor, of one layer among others: what eager mode launches. `norms_fused`: each
/// norm's chain is one kernel with the addition before it and the matrix products after it.
int64_t eager_kernels_per_layer(bool norms_fused);

}  // namespace atb

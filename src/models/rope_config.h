// Rotary embedding settings of a model file.
#pragma once

#include <atb/ops.h>

#include "models/config.h"

namespace atb {

/// Reads theta, rotary dimension and scaling.
///   GGUF         rope.freq_base, rope.dimension_count, rope.scaling.* (and the older rope.scale_linear). llama3
///   scaling
///                is no key there: converters store its factors as the tensor rope_freqs.weight.
///   config.json  rope_theta, partial_rotary_factor, and either rope_parameters (transformers 5) or rope_scaling, with
///                the kind under `rope_type` or `type`.
/// Pairing is a fact of the format: converters to GGUF reorder the rows of LLaMA's q and k so that pairs are adjacent.
/// Error{kModel} for an unknown kind of scaling (with the list) or a missing factor.
RopeAttrs read_rope(const Config& config, int64_t head_dim, int64_t context_length);

}  // namespace atb

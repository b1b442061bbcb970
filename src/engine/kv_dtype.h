// The dtype of the KV cache when nobody names one.
#pragma once

#include "io/model_file.h"

namespace atb {

/// The dtype that most bytes of the weights have, where it is f32 or bf16; else f16.
DType default_kv_dtype(const ModelFile& file);

}  // namespace atb

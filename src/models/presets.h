// Shapes of published models, for planning and measuring without their files.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/model_file.h"

namespace atb {

/// Sizes as in the config.json that its authors published.
struct ShapePreset {
  const char* name;  ///< "llama-2-7b"
  int64_t layers, hidden_size, intermediate_size, heads, kv_heads, vocab_size, context_length;
};

/// Error{kUsage} with the list and the nearest name.
const ShapePreset& shape_preset(const std::string& name);
std::vector<std::string> shape_preset_names();

/// A model of that shape in memory: config and tensors with dtype and shape, but without data (TensorInfo::data is
/// null). build_model() takes it like a Hugging Face folder. `layers` 0: as many as the preset has. `weights` is the
/// dtype of every tensor, a plain floating one.
std::unique_ptr<ModelFile> shape_file(const ShapePreset& preset, DType weights, int64_t layers = 0);

}  // namespace atb

// An architecture: how its config is read, how its tensors are called, and its graph. One file per architecture, one
// line in models.inc.
#pragma once

#include <atb/graph.h>

#include <functional>
#include <string>
#include <vector>

#include "io/model_file.h"

namespace atb {

/// What every decoder shares; the architecture's own facts stay in its file.
struct ModelInfo {
  std::string architecture;  ///< "llama"
  int64_t layers = 0, hidden_size = 0, intermediate_size = 0, heads = 0, kv_heads = 0, head_dim = 0;
  int64_t vocab_size = 0, context_length = 0;
  std::string weight_types;  ///< "210 q4_1, 61 f32, 1 q8_0"
  int64_t parameters = 0;
};

struct BuiltModel {
  ModelInfo info;
  Graph graph;
  /// The file's tensor behind a param of the graph.
  std::function<TensorInfo(const std::string& param)> tensors;
};

/// Chooses the architecture by the file's metadata and builds its graph. `kv_dtype` is the dtype of the cache states.
/// `fp32_activations`: what follows the embedding is fp32, whatever the weights are, so that nothing is rounded on the
/// way (precision fp32); else activations have the model's own dtype.
/// Error{kModel}: unknown architecture (with the list), a missing key or tensor, a size that contradicts another.
BuiltModel build_model(const ModelFile& file, DType kv_dtype, bool fp32_activations = false);

/// The names in models.inc, for messages and listings.
std::vector<std::string> known_architectures();

}  // namespace atb

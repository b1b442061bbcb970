// From the params of a graph to the tensors of a file, by a table of names.
#pragma once

#include <atb/graph.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/model_file.h"

namespace atb {

/// One tensor under its three names; "*" stands for the layer number. nullptr where a format has no such tensor.
struct TensorName {
  const char *param, *gguf, *hf;
};

/// Cheap to copy; the file and the table must outlive it.
class Weights {
 public:
  Weights(const ModelFile& file, std::span<const TensorName> names) : file_(&file), names_(names) {}

  /// The tensor behind a param; nullptr if the file has none.
  const TensorInfo* find(std::string_view param) const;
  /// Error{kModel} for a param that the table does not name or a tensor that the file lacks.
  const TensorInfo& require(std::string_view param) const;

  /// The graph's value for a tensor of this shape. Error{kModel} naming file, tensor and both shapes if the file's
  /// tensor has another one, or holds no floating-point numbers.
  ValueId param(Graph& g, const std::string& param, const std::vector<int64_t>& shape) const;

 private:
  std::string file_name(std::string_view param) const;  ///< empty if there is none

  const ModelFile* file_;
  std::span<const TensorName> names_;
};

/// "210 q4_1, 61 f32, 1 q8_0": the dtypes of a file's tensors, most frequent first.
std::string summarize_types(std::span<const TensorInfo> tensors);
/// Elements of all tensors.
int64_t count_parameters(std::span<const TensorInfo> tensors);

}  // namespace atb

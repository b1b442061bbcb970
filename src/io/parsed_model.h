// The one implementation of ModelFile: the readers fill it in.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/mapped_file.h"
#include "io/model_file.h"

namespace atb {

struct ParsedModel final : ModelFile {
  ParsedModel(ModelFormat format, std::string path) : format_(format), path_(std::move(path)) {}

  ModelFormat format() const override { return format_; }
  const std::string& path() const override { return path_; }
  const Metadata& metadata() const override { return metadata_; }
  std::span<const TensorInfo> tensors() const override { return tensors_; }

  ModelFormat format_;
  std::string path_;
  std::vector<MappedFile> maps_;
  Metadata metadata_;
  std::vector<TensorInfo> tensors_;
};

/// Sorts by name; Error{kFile} naming `file` and the tensor if two have the same name.
void sort_by_name(std::vector<TensorInfo>& tensors, const std::string& file);

/// Bytes of a tensor whose rows are whole blocks; nothing when a dimension is negative or a product overflows int64.
std::optional<size_t> tensor_bytes(DType dtype, const std::vector<int64_t>& shape);

}  // namespace atb

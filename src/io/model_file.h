// A model on disk: one GGUF file, or a Hugging Face folder (config.json and safetensors). Files are untrusted: every
// length, offset and product is checked before it is used, and nothing is allocated that the file's size cannot
// justify.
#pragma once

#include <atb/dtype.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/metadata.h"

namespace atb {

/// One tensor of a file; `data` points into the memory map and lives as long as the ModelFile.
struct TensorInfo {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;  ///< outermost dimension first, as in torch (GGUF stores them the other way round)
  const std::byte* data;       ///< no alignment is promised
  size_t bytes;

  int64_t elements() const;
};

enum class ModelFormat { kGguf, kHuggingFace };

class ModelFile {
 public:
  virtual ~ModelFile() = default;
  virtual ModelFormat format() const = 0;
  virtual const std::string& path() const = 0;  ///< the GGUF file, or the folder
  virtual const Metadata& metadata() const = 0;
  virtual std::span<const TensorInfo> tensors() const = 0;  ///< sorted by name

  const TensorInfo* find(std::string_view name) const;  ///< nullptr if there is none
  /// Error{kModel} naming the file, the tensor and, when there is one, the nearest name.
  const TensorInfo& require(std::string_view name) const;
};

std::unique_ptr<ModelFile> open_gguf(const std::string& path);
std::unique_ptr<ModelFile> open_hf_folder(const std::string& path);

/// Chooses by what the path is: a folder with config.json, or a file that starts with the GGUF magic; else an
/// Error{kFile} that says what was found and what is expected.
std::unique_ptr<ModelFile> open_model(const std::string& path);

/// Decodes elements [begin, end) of a tensor's row-major order to fp32. begin and end must be multiples of the dtype's
/// block size. Each value is the exact one rounded once (block formats without an offset and 16-bit floats need no
/// rounding at all).
void dequantize(DType dtype, const std::byte* data, int64_t begin, int64_t end, float* out) noexcept;

}  // namespace atb

#include "io/model_file.h"

#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/text.h"
#include "io/parsed_model.h"
#include "io/printable.h"

namespace atb {
namespace {

constexpr std::string_view kGgufMagic = "GGUF";

}  // namespace

int64_t TensorInfo::elements() const {
  int64_t product = 1;  // the readers have checked that it fits
  for (const int64_t dim : shape) product *= dim;
  return product;
}

const TensorInfo* ModelFile::find(std::string_view name) const {
  const auto all = tensors();
  const auto it = std::lower_bound(all.begin(), all.end(), name,
                                   [](const TensorInfo& t, std::string_view n) { return t.name < n; });
  return it != all.end() && it->name == name ? &*it : nullptr;
}

const TensorInfo& ModelFile::require(std::string_view name) const {
  if (const TensorInfo* tensor = find(name)) return *tensor;
  std::vector<std::string> names;
  for (const TensorInfo& tensor : tensors()) names.push_back(tensor.name);
  const std::string nearest = nearest_name(name, names);
  throw Error(ErrorCode::kModel, fmt::format("tensor {} is missing", printable(name)), path(),
              nearest.empty() ? "the file holds no tensors"
                              : fmt::format("the nearest name in the file is {}", printable(nearest)));
}

void sort_by_name(std::vector<TensorInfo>& tensors, const std::string& file) {
  std::sort(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  const auto twin =
      std::adjacent_find(tensors.begin(), tensors.end(), [](const auto& a, const auto& b) { return a.name == b.name; });
  if (twin == tensors.end()) return;
  throw Error(ErrorCode::kFile, fmt::format("tensor {} occurs twice", printable(twin->name)), file,
              "each name may occur once; the file is damaged");
}

std::optional<size_t> tensor_bytes(DType dtype, const std::vector<int64_t>& shape) {
  const DTypeInfo& info = dtype_info(dtype);
  int64_t elements = 1, bytes = 0;
  for (const int64_t dim : shape) {
    if (dim < 0 || __builtin_mul_overflow(elements, dim, &elements)) return std::nullopt;
  }
  if (__builtin_mul_overflow(elements / info.block_size, int64_t{info.block_bytes}, &bytes)) return std::nullopt;
  return static_cast<size_t>(bytes);
}

std::unique_ptr<ModelFile> open_model(const std::string& path) {
  if (std::error_code ignored; std::filesystem::is_directory(path, ignored)) return open_hf_folder(path);
  const std::string start(MappedFile(path).text().substr(0, kGgufMagic.size()));
  if (start == kGgufMagic) return open_gguf(path);
  throw Error(ErrorCode::kFile,
              fmt::format("not a model: the file starts with {}, expected {}", printable(start), printable(kGgufMagic)),
              path, "give a GGUF file, or a folder with config.json and safetensors files");
}

}  // namespace atb

#include "engine/kv_dtype.h"

#include <algorithm>
#include <array>

namespace atb {

DType default_kv_dtype(const ModelFile& file) {
  std::array<size_t, kDTypeCount> bytes{};
  for (const TensorInfo& tensor : file.tensors()) bytes[static_cast<size_t>(tensor.dtype)] += tensor.bytes;
  const auto main = static_cast<DType>(std::max_element(bytes.begin(), bytes.end()) - bytes.begin());
  return main == DType::kF32 || main == DType::kBF16 ? main : DType::kF16;
}

}  // namespace atb

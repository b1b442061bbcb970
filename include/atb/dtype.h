// Element types of tensors: plain numbers, and the block formats of GGUF files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace atb {

enum class DType : uint8_t {
  // clang-format off
  kF32, kF16, kBF16, kF64, kI8, kU8, kI16, kI32, kI64, kBool,
  // GGUF block formats: `block_size` elements share one block of `block_bytes` bytes.
  kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ8_0, kQ4_K, kQ5_K, kQ6_K
  // clang-format on
};
inline constexpr int kDTypeCount = 18;

/// Facts about one dtype. For plain numbers block_size is 1 and block_bytes the size of an element.
struct DTypeInfo {
  const char* name;  ///< as printed in graphs and reports: "f32", "bf16", "q4_1", ...
  int block_size;
  int block_bytes;
  bool quantized;
  bool floating;  ///< f16, bf16, f32, f64
};

const DTypeInfo& dtype_info(DType dtype) noexcept;
inline const char* dtype_name(DType dtype) noexcept { return dtype_info(dtype).name; }

/// The dtype of that name, or nothing.
std::optional<DType> parse_dtype(std::string_view name) noexcept;

}  // namespace atb

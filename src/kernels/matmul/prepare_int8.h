// Activations to int8 (matmul.h, ActivationLayout). Every ISA gives the same bytes. See tiles.h for the rules of such
// files.
#pragma once

#include "kernels/matmul/matmul.h"

namespace atb {

/// The scale of a group whose largest magnitude has these bits; NaN if it is Inf or NaN, 0 if it counts as zeros.
template <class V>
float group_scale(uint32_t largest_bits) noexcept {
  constexpr uint32_t kInfinity = 0x7f800000, kSmallest = 0x0d800000;  // 2^-100: far from where 127 / max overflows
  if (largest_bits >= kInfinity) return __builtin_nanf("");
  if (largest_bits < kSmallest) return 0.0f;
  return __builtin_bit_cast(float, largest_bits) / 127.0f;
}

template <class V>
void quantize_group(const float* x, int group, std::byte* out) noexcept {
  auto largest = V::zero_int();
  for (int i = 0; i < group; i += V::kWidth) largest = V::max_magnitude(largest, V::load(x + i));
  const uint32_t largest_bits = V::reduce_max(largest);
  const float scale = group_scale<V>(largest_bits);
  GroupStats stats{scale, scale, 0, 0};
  if (!(scale > 0.0f)) {
    stats.scaled_sum = scale;
    __builtin_memset(out, 0, static_cast<size_t>(group));
  } else {
    const float inverse = 127.0f / __builtin_bit_cast(float, largest_bits);
    auto sums = V::zero_int();
    for (int i = 0; i < group; i += V::kWidth) {
      const auto q = V::round(V::mul(V::load(x + i), V::broadcast(&inverse)));
      V::store_int8(out + i, q);
      sums = V::add_int(sums, q);
    }
    const int32_t sum = V::reduce_add(sums);
    stats = {scale, scale * static_cast<float>(sum), -8 * sum, -128 * sum};
  }
  __builtin_memcpy(out + group, &stats, sizeof stats);
}

template <class V>
void prepare_int8_rows(const ActivationLayout& layout, const float* x, int64_t ldx, std::byte* out, int64_t begin,
                       int64_t end) noexcept {
  const auto stride = static_cast<int64_t>(layout.row_bytes());
  const int64_t group_bytes = layout.group + static_cast<int64_t>(sizeof(GroupStats));
  for (int64_t row = begin; row < end; ++row) {
    std::byte* q = out + row * stride;
    for (int64_t k = 0; k < layout.k; k += layout.group, q += group_bytes)
      quantize_group<V>(x + row * ldx + k, layout.group, q);
  }
}

}  // namespace atb

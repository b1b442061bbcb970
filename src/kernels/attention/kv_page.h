// How keys and values lie in memory: pages of 32 tokens, so that a sequence grows without moving anything.
//   keys    [kv_heads][head_dim][32]   transposed: tokens are the columns of scores' matrix product
//   values  [kv_heads][32][head_dim]
#pragma once

#include <atb/dtype.h>

#include <cstddef>
#include <cstdint>

namespace atb {

inline constexpr int kPageTokens = 32;

/// kF32, kF16 or kBF16.
struct KvLayout {
  DType dtype = DType::kF16;
  int64_t kv_heads = 0, head_dim = 0;
  size_t page_bytes() const noexcept {
    return static_cast<size_t>(kv_heads * head_dim * kPageTokens) * static_cast<size_t>(dtype_info(dtype).block_bytes);
  }
};

/// Pages of one state of one sequence; token t lies in page t / 32 at t % 32.
struct KvPages {
  std::byte* const* pages;
};

}  // namespace atb

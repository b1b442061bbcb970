// Rows picked by number: embedding and take_rows. The numbers must be in range; the executor checks them, since they
// come from outside.
#pragma once

#include <atb/dtype.h>

#include <cstddef>
#include <cstdint>

namespace atb {

/// y[t, :] = table[ids[t], :] in fp32, of a table of any dtype in a file's layout (row-major, dense; `columns` a
/// multiple of the block size).
struct EmbeddingArgs {
  DType dtype;
  const std::byte* table;
  int64_t columns;
  const int32_t* ids;
  float* y;  ///< [rows][ldy]
  int64_t ldy;
};
/// Rows [begin, end) of y.
void embedding(const EmbeddingArgs& args, int64_t begin, int64_t end) noexcept;

/// y[t, :] = x[rows[t], :]; y must not overlap x.
struct TakeRowsArgs {
  const float* x;  ///< [..][ldx]
  int64_t ldx, columns;
  const int32_t* rows;
  float* y;  ///< [rows][ldy]
  int64_t ldy;
};
/// Rows [begin, end) of y.
void take_rows(const TakeRowsArgs& args, int64_t begin, int64_t end) noexcept;

}  // namespace atb

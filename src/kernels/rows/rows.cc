#include "kernels/rows/rows.h"

#include <algorithm>

#include "io/model_file.h"

namespace atb {

void embedding(const EmbeddingArgs& args, int64_t begin, int64_t end) noexcept {
  for (int64_t t = begin; t < end; ++t) {
    const int64_t first = args.ids[t] * args.columns;
    dequantize(args.dtype, args.table, first, first + args.columns, args.y + t * args.ldy);
  }
}

void take_rows(const TakeRowsArgs& args, int64_t begin, int64_t end) noexcept {
  for (int64_t t = begin; t < end; ++t)
    std::copy_n(args.x + args.rows[t] * args.ldx, args.columns, args.y + t * args.ldy);
}

}  // namespace atb

// Attention as three operators over a paged cache, for one sequence:
//   kv_append  writes tokens [past, past + rows) of a key or value state
//   scores     s[h, i, j] = softcap(scale * q[i, h] . k[j, h / (heads / kv_heads)]) (+ ALiBi), -inf where masked
//   softmax    p[h, i, :] = softmax(s[h, i, :]); a fully masked row gives zeros     (kernels/softmax)
//   values     o[i, h] = sum_j p[h, i, j] v[j, h / (heads / kv_heads)]
// Causal is aligned bottom-right: query i (0-based in this step) sees keys j <= past + i. Window W: j > past + i - W.
// Slots of a page beyond the context may hold any bits and never reach a result.
#pragma once

#include <atb/ops.h>

#include <cstdint>
#include <span>

#include "kernels/attention/kv_page.h"
#include "kernels/kernel_table.h"

namespace atb {

struct KvAppendArgs {
  const float* x;  ///< [rows][ldx], kv_heads*head_dim features
  int64_t ldx, rows, past;
  KvPages pages;
  KvLayout layout;
};
/// Rows [begin, end).
using KvAppendFn = void (*)(const KvAppendArgs& args, int64_t begin, int64_t end) noexcept;

struct ScoresArgs {
  const float* q;  ///< [rows][ldq], heads*head_dim features
  int64_t ldq, rows, past;
  KvPages keys;
  KvLayout layout;
  ScoresAttrs attrs;
  const double* alibi;  ///< slope per head, or nullptr
  const float* mask;    ///< nullptr if attrs.mask is kNone; kBool: not 0 = attend; kAdditive: added at the end
  float mask_lowest;    ///< kAdditive: the lowest finite value of the mask's dtype; it and what is below mean masked
  int64_t mask_head_stride, mask_row_stride;  ///< floats; 0 repeats. Columns are dense.
  float* s;                                   ///< [heads][rows][lds]; columns [0, past + rows) are written
  int64_t lds;
};
/// (head, row) pairs [begin, end) of heads*rows, rows fastest. Rows of a range may be grouped into tiles.
using ScoresFn = void (*)(const ScoresArgs& args, int64_t begin, int64_t end) noexcept;

struct ValuesArgs {
  const float* p;  ///< [heads][rows][ldp]
  int64_t ldp, rows, past;
  KvPages values;
  KvLayout layout;
  int64_t heads;
  float* o;  ///< [rows][ldo], heads*head_dim features
  int64_t ldo;
};
/// (head, row) pairs [begin, end) as in scores. A key whose p is 0 is skipped: its value may be NaN.
using ValuesFn = void (*)(const ValuesArgs& args, int64_t begin, int64_t end) noexcept;

/// Every variant for a cache of this dtype (kF32, kF16, kBF16), best first.
std::span<const Kernel<KvAppendFn>> kv_append_kernels(DType kv_dtype, bool is_key);
std::span<const Kernel<ScoresFn>> scores_kernels(DType kv_dtype);
std::span<const Kernel<ValuesFn>> values_kernels(DType kv_dtype);

const Kernel<KvAppendFn>& select_kv_append(KvLayout layout, bool is_key, const IsaSet& isas);
const Kernel<ScoresFn>& select_scores(DType kv_dtype, const IsaSet& isas);
const Kernel<ValuesFn>& select_values(DType kv_dtype, const IsaSet& isas);

}  // namespace atb

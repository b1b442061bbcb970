// Queries and keys are normed head by head behind their projection (Qwen-3, Gemma-3).
#include "fusion/clauses.h"

namespace atb::rules {

Rule qk_norm() {
  return Rule("qk_norm")
      .row(22)
      .equation("y = norm(heads(x W))")
      .pattern((NodePattern(matmul(any("x"), any("w"))) | add(any("p"), weight("bias"))) >>
               norm(_, weight("gamma"), weight("beta")))
      .through(kSplits | kHeads | kViewed)
      .shapes("x [.., K], W [H*D, K], gamma [D], beta [D]")
      .require({inference, no_cast_between, fp32_accumulates, slices_do_not_overlap, qk_norm_of_head, gamma_of_row,
                gamma_dtype, gamma_is_raw})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention | kKindLayerNorm)
      .saves("traffic(projected), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %w = param "w" : T[24, 24]
  %gamma = param "gamma" : T[8]
  %p = matmul(%x, %w)
  %h = reshape(%p) {shape = [-1, 3, 8]}
  %y = rms_norm(%h, %gamma)
  output "y" %y
)");
}

}  // namespace atb::rules

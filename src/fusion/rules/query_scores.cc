// Queries, projected (with bias, norm or scale) and rotated, meet the keys on chip.
#include "fusion/clauses.h"

namespace atb::rules {

Rule query_scores() {
  return Rule("query_scores")
      .row(19)
      .equation("s = scale q kt")
      .pattern((NodePattern(matmul(any("x"), any("w"))) | add(any("p"), weight("bias")) |
                rope(any("x"), any("positions"), any("divisors")) | mul(any("x"), number("c")) |
                norm(any("x"), weight("gamma"), weight("beta"))) >>
               scores(_, any("k"), any("mask")))
      .through(kSplits | kHeads)
      .shapes("q [.., Tq, H*D], k [.., Tk, G*D]")
      .require({inference, no_cast_between, fp32_accumulates, slices_do_not_overlap, rope_fits_heads, same_rotation})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(q), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %positions = input "positions" : i32[tokens]
  %k = input "k" : T[tokens, 8]
  %q = rope(%x, %positions) {head_dim = 8, rotary_dim = 8}
  %y = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8}
  output "y" %y
)");
}

}  // namespace atb::rules

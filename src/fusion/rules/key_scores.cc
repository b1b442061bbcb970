// New keys go to the scores and into the cache in one pass; without a cache, straight to the scores.
#include "fusion/clauses.h"

namespace atb::rules {

Rule key_scores() {
  return Rule("key_scores")
      .row(19)
      .equation("s = scale q kt")
      .pattern((NodePattern(kv_append(any("state"), any("x"))) | matmul(any("x"), any("w")) |
                add(any("p"), weight("bias")) | rope(any("x"), any("positions"), any("divisors")) |
                norm(any("x"), weight("gamma"), weight("beta"))) >>
               scores(any("q"), _, any("mask")))
      .through(kSplits | kHeads)
      .shapes("q [.., Tq, H*D], k [.., Tk, G*D]")
      .require({inference, no_cast_between, fp32_accumulates, slices_do_not_overlap, rope_fits_heads, same_rotation})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(k), 1 launch")
      .example(R"(
  %state = state "k" : T[past, 8]
  %x = input "x" : T[tokens, 8]
  %q = input "q" : T[tokens, 24]
  %k = kv_append(%state, %x)
  %y = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8, causal = true}
  output "y" %y
)");
}

}  // namespace atb::rules

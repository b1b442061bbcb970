// Scores go through softmax while they are on chip; the matrix of scores is never stored.
#include "fusion/clauses.h"

namespace atb::rules {

Rule scores_softmax() {
  return Rule("scores_softmax")
      .row(19)
      .equation("p = softmax(scale q kt + mask)")
      .pattern(scores(any("q"), any("k"), any("mask")).with({is("alibi", "false"), is("window", "0")}) >> softmax(_))
      .shapes("q [.., Tq, H*D], k [.., Tk, G*D], p [.., H, Tq, Tk]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, mask_is_given, causal_ends_align})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(scores), 1 launch")
      .example(R"(
  %q = input "q" : T[tokens, 24]
  %k = input "k" : T[tokens, 24]
  %s = scores(%q, %k) {heads = 3, kv_heads = 3, head_dim = 8}
  %y = softmax(%s)
  output "y" %y
)");
}

}  // namespace atb::rules

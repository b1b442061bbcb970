// Scores of a sliding window, which counts the current token: keys out of sight are not computed.
#include "fusion/clauses.h"

namespace atb::rules {

Rule window_softmax() {
  return Rule("window_softmax")
      .row(27)
      .equation("p = softmax(scale q kt), the last W keys")
      .pattern(scores(any("q"), any("k"), any("mask")).with({is("alibi", "false"), is_not("window", "0")}) >>
               softmax(_))
      .shapes("q [.., Tq, H*D], k [.., Tk, G*D], p [.., H, Tq, Tk]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, mask_is_given, causal_ends_align})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(scores), 1 launch")
      .example(R"(
  %q = input "q" : T[tokens, 24]
  %k = input "k" : T[tokens, 24]
  %s = scores(%q, %k) {heads = 3, kv_heads = 3, head_dim = 8, causal = true, window = 4}
  %y = softmax(%s)
  output "y" %y
)");
}

}  // namespace atb::rules

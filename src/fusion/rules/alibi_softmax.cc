// Scores with ALiBi slopes (BLOOM, MPT, Baichuan-13B); positions are told by the slopes alone.
#include "fusion/clauses.h"

namespace atb::rules {

Rule alibi_softmax() {
  return Rule("alibi_softmax")
      .row(26)
      .equation("p = softmax(scale q kt + slope[h] (j - i))")
      .pattern(scores(any("q"), any("k"), any("mask")).with({is("alibi", "true")}) >> softmax(_))
      .shapes("q [.., Tq, H*D], k [.., Tk, G*D], p [.., H, Tq, Tk]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, mask_is_given, causal_ends_align,
                no_rope_with_alibi})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(scores), 1 launch")
      .example(R"(
  %q = input "q" : T[tokens, 24]
  %k = input "k" : T[tokens, 24]
  %s = scores(%q, %k) {heads = 3, kv_heads = 3, head_dim = 8, causal = true, alibi = true}
  %y = softmax(%s)
  output "y" %y
)");
}

}  // namespace atb::rules

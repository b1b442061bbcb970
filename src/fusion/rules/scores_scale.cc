// A number or a mask that stands apart from the scores goes with them.
#include "fusion/clauses.h"

namespace atb::rules {

Rule scores_scale() {
  return Rule("scores_scale")
      .row(25)
      .equation("t = s c, t = s + mask")
      .pattern(scores(any("q"), any("k"), any("mask")) >>
               (NodePattern(mul(_, number("c"))) | add(_, stream("bias")) | add(_, weight("bias"))))
      .shapes("s [.., H, Tq, Tk], mask broadcast to s")
      .require({inference, no_cast_between, fp32_accumulates, single_use, one_mask})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(scores), 1 launch")
      .example(R"(
  %q = input "q" : T[tokens, 24]
  %k = input "k" : T[tokens, 24]
  %bias = input "bias" : T[tokens, tokens]
  %s = scores(%q, %k) {heads = 3, kv_heads = 3, head_dim = 8}
  %y = add(%s, %bias)
  output "y" %y
)");
}

}  // namespace atb::rules

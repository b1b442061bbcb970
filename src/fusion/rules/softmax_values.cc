// The weights of attention meet the values as they come: rows of p are never stored.
#include "fusion/clauses.h"

namespace atb::rules {

Rule softmax_values() {
  return Rule("softmax_values")
      .row(19)
      .equation("o = softmax(s) v")
      .pattern(softmax(any("s")) >> values(_, any("v")))
      .shapes("s [.., H, Tq, Tk], v [.., Tk, G*D], o [.., Tq, H*D]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, same_head_layout})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(p), 1 launch")
      .example(R"(
  %s = input "s" : T[3, tokens, keys]
  %v = input "v" : T[keys, 8]
  %p = softmax(%s)
  %y = values(%p, %v) {heads = 3, kv_heads = 1, head_dim = 8}
  output "y" %y
)");
}

}  // namespace atb::rules

// New values go to the weighted sum and into the cache in one pass; without a cache, straight to the sum.
#include "fusion/clauses.h"

namespace atb::rules {

Rule value_values() {
  return Rule("value_values")
      .row(19)
      .equation("o = p v")
      .pattern((NodePattern(kv_append(any("state"), any("x"))) | matmul(any("x"), any("w")) |
                add(any("p"), weight("bias"))) >>
               values(any("p"), _))
      .through(kSplits | kHeads)
      .shapes("p [.., H, Tq, Tk], v [.., Tk, G*D]")
      .require({inference, no_cast_between, fp32_accumulates, slices_do_not_overlap})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(v), 1 launch")
      .example(R"(
  %state = state "v" : T[past, 8]
  %x = input "x" : T[tokens, 8]
  %p = input "p" : T[3, tokens, past+tokens]
  %v = kv_append(%state, %x)
  %y = values(%p, %v) {heads = 3, kv_heads = 1, head_dim = 8}
  output "y" %y
)");
}

}  // namespace atb::rules

// A normed head is rotated while it is on chip.
#include "fusion/clauses.h"

namespace atb::rules {

Rule qk_norm_rope() {
  return Rule("qk_norm_rope")
      .row(22)
      .equation("y = rope(norm(x))")
      .pattern(norm(any("x"), weight("gamma"), weight("beta")) >> rope(_, any("positions"), any("divisors")))
      .through(kHeads)
      .shapes("x [.., T, H, D], gamma [D], beta [D], positions [.., T]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, qk_norm_of_head, gamma_of_row, gamma_dtype,
                gamma_is_raw})
      .numerics(Numerics::kBitExact)
      .kinds(kKindAttention | kKindLayerNorm)
      .saves("traffic(normed), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 3, 8]
  %gamma = param "gamma" : T[8]
  %positions = input "positions" : i32[tokens]
  %n = rms_norm(%x, %gamma)
  %h = reshape(%n) {shape = [-1, 24]}
  %y = rope(%h, %positions) {head_dim = 8, rotary_dim = 8}
  output "y" %y
)");
}

}  // namespace atb::rules

// A projection is rotated before it leaves the chip. Pairing and width are those of the graph.
#include "fusion/clauses.h"

namespace atb::rules {

Rule matmul_rope() {
  return Rule("matmul_rope")
      .row(23)
      .equation("y = rope(x W [+ bias])")
      .pattern((NodePattern(matmul(any("x"), any("w"))) | add(any("p"), weight("bias"))) >>
               rope(_, any("positions"), any("divisors")))
      .through(kSplits)
      .shapes("x [.., K], W [H*D, K], positions [.., T]")
      .require({inference, no_cast_between, fp32_accumulates, slices_do_not_overlap})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(projected), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %w = param "w" : T[24, 24]
  %positions = input "positions" : i32[tokens]
  %p = matmul(%x, %w)
  %y = rope(%p, %positions) {head_dim = 8, rotary_dim = 8, pairing = interleaved}
  output "y" %y
)");
}

}  // namespace atb::rules

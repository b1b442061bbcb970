// The up projection, with or without bias or as columns of a packed one, is multiplied by the activated gate.
#include "fusion/clauses.h"

namespace atb::rules {

Rule up_gate() {
  return Rule("up_gate")
      .row(12)
      .equation("y = a * (x Wu [+ bias])")
      .pattern((NodePattern(matmul(any("x"), any("w"))) | add(any("p"), weight("bias"))) >> mul(_, any("a")))
      .through(kSplits)
      .shapes("x [.., K], Wu [N, K], a [.., N]")
      .require({inference, no_cast_between, fp32_accumulates, slices_do_not_overlap, same_shape, one_activated_factor})
      .numerics(Numerics::kReordersFp32)
      .kinds(kBlock)
      .saves("traffic(up), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %w = param "w" : T[40, 24]
  %g = input "g" : T[tokens, 40]
  %a = activation(%g) {kind = silu}
  output "a" %a
  %u = matmul(%x, %w)
  %y = mul(%u, %a)
  output "y" %y
)");
}

}  // namespace atb::rules

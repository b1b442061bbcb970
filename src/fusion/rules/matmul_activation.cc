// Activation of a product in its epilogue; of a packed gate and up, of the gate's columns.
#include "fusion/clauses.h"

namespace atb::rules {

Rule matmul_activation() {
  return Rule("matmul_activation")
      .row(9)
      .equation("y = act(x W)")
      .pattern(matmul(any("x"), any("w")) >> activation(_))
      .through(kSplits)
      .shapes("x [.., K], W [N, K]")
      .require({inference, no_cast_between, fp32_accumulates, slices_do_not_overlap})
      .numerics(Numerics::kReordersFp32)
      .kinds(kBlock)
      .saves("traffic(product), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %w = param "w" : T[40, 24]
  %p = matmul(%x, %w)
  %y = activation(%p) {kind = gelu_tanh}
  output "y" %y
)");
}

}  // namespace atb::rules

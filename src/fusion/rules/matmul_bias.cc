// The bias is added before the product leaves its accumulators, and before any residual.
#include "fusion/clauses.h"

namespace atb::rules {

Rule matmul_bias() {
  return Rule("matmul_bias")
      .row(9)
      .equation("y = x W + bias")
      .pattern((NodePattern(matmul(any("x"), any("w"))) | add(stream("y"), stream("r"))) >> add(_, weight("bias")))
      .shapes("x [.., K], W [N, K], bias [N]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, bias_of_row, bias_before_residual})
      .numerics(Numerics::kReordersFp32)
      .kinds(kBlock | kKindBias)
      .saves("traffic(product), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %w = param "w" : T[40, 24]
  %bias = param "bias" : T[40]
  %p = matmul(%x, %w)
  %y = add(%p, %bias)
  output "y" %y
)");
}

}  // namespace atb::rules

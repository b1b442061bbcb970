// The residual is added in the epilogue of the product, behind its bias.
#include "fusion/clauses.h"

namespace atb::rules {

Rule matmul_residual() {
  return Rule("matmul_residual")
      .row(10)
      .equation("y = r + x W [+ bias]")
      .pattern((NodePattern(matmul(any("x"), any("w"))) | add(any("p"), weight("bias"))) >> add(_, stream("r")))
      .shapes("x [.., K], W [N, K], bias [N], r [.., N]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, same_shape})
      .numerics(Numerics::kReordersFp32)
      .kinds(kBlock)
      .saves("traffic(product), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %w = param "w" : T[40, 24]
  %r = input "r" : T[tokens, 40]
  %p = matmul(%x, %w)
  %y = add(%r, %p)
  output "y" %y
)");
}

}  // namespace atb::rules

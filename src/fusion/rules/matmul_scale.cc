// A number multiplies the product in its epilogue; it is not folded into W, whose dtype may not hold it.
#include "fusion/clauses.h"

namespace atb::rules {

Rule matmul_scale() {
  return Rule("matmul_scale")
      .row(10)
      .equation("y = (x W) c")
      .pattern(matmul(any("x"), any("w")) >> mul(_, number("c")))
      .shapes("x [.., K], W [N, K]")
      .require({inference, no_cast_between, fp32_accumulates, single_use})
      .numerics(Numerics::kReordersFp32)
      .kinds(kBlock)
      .saves("traffic(product), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %w = param "w" : T[40, 24]
  %c = constant 0.125 : f32[]
  %p = matmul(%x, %w)
  %y = mul(%p, %c)
  output "y" %y
)");
}

}  // namespace atb::rules

// A product, with or without bias, then a norm of whole rows: the first half of a sandwich.
#include "fusion/clauses.h"

namespace atb::rules {

Rule matmul_norm() {
  return Rule("matmul_norm")
      .row(4)
      .equation("y = norm(x W [+ bias])")
      .pattern((NodePattern(matmul(any("x"), any("w"))) | add(any("x"), weight("bias"))) >>
               norm(_, weight("gamma"), weight("beta")))
      .shapes("x [.., K], W [N, K], bias [N], gamma [N], beta [N]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, bias_of_row, gamma_of_row, gamma_dtype,
                gamma_is_raw})
      .numerics(Numerics::kReordersFp32)
      .kinds(kBlock | kKindLayerNorm)
      .saves("traffic(product), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %w = param "w" : T[40, 24]
  %gamma = param "gamma" : T[40]
  %p = matmul(%x, %w)
  %y = rms_norm(%p, %gamma)
  output "y" %y
)");
}

}  // namespace atb::rules

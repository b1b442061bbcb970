// Residual add, then a norm: the sum stays on chip, and is also a result where the residual stream goes on.
#include "fusion/clauses.h"

namespace atb::rules {

Rule add_norm() {
  return Rule("add_norm")
      .row(3)
      .equation("y = norm(x + r)")
      .pattern(add(any("x"), any("r")) >> norm(_, weight("gamma"), weight("beta")))
      .shapes("x [.., D], r [.., D], gamma [D], beta [D]")
      .also_yields("sum")
      .require({no_cast_between, fp32_accumulates, same_shape, gamma_of_row, gamma_dtype, gamma_is_raw})
      .numerics(Numerics::kBitExact)
      .kinds(kKindLayerNorm)
      .saves("traffic(sum), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %r = input "r" : T[tokens, 24]
  %gamma = param "gamma" : T[24]
  %beta = param "beta" : T[24]
  %sum = add(%x, %r)
  %y = layer_norm(%sum, %gamma, %beta)
  output "y" %y
)");
}

}  // namespace atb::rules

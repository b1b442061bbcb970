// A norm behind a product, then the residual add (sandwich norms of GLM-4 and Gemma-2).
#include "fusion/clauses.h"

namespace atb::rules {

Rule norm_add() {
  return Rule("norm_add")
      .row(4)
      .equation("y = r + norm(x)")
      .pattern(norm(any("x"), weight("gamma"), weight("beta")) >> add(_, stream("r")))
      .shapes("x [.., D], gamma [D], beta [D], r [.., D]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, same_shape, gamma_of_row, gamma_dtype,
                gamma_is_raw})
      .numerics(Numerics::kBitExact)
      .kinds(kBlock | kKindLayerNorm)
      .saves("traffic(normed), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %r = input "r" : T[tokens, 24]
  %gamma = param "gamma" : T[24]
  %n = rms_norm(%x, %gamma)
  %y = add(%n, %r)
  output "y" %y
)");
}

}  // namespace atb::rules

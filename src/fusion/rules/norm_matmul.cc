// The prologue of a product: rows are normed on their way into it. Gamma stays where it is: it is applied in fp32
// and folded into W by nobody.
#include "fusion/clauses.h"

namespace atb::rules {

Rule norm_matmul() {
  return Rule("norm_matmul")
      .row(7)
      .equation("y = norm(x) W")
      .pattern(norm(any("x"), weight("gamma"), weight("beta")) >> matmul(_, any("w")))
      .shapes("x [.., K], gamma [K], beta [K], W [N, K]")
      .require({inference, no_cast_between, fp32_accumulates, only_products_read, plain_matrix, gamma_of_row,
                gamma_dtype, gamma_is_raw})
      .numerics(Numerics::kReordersFp32)
      .kinds(kBlock | kKindLayerNorm)
      .saves("traffic(normed), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %gamma = param "gamma" : T[24]
  %w = param "w" : T[40, 24]
  %n = rms_norm(%x, %gamma)
  %y = matmul(%n, %w)
  output "y" %y
)");
}

}  // namespace atb::rules

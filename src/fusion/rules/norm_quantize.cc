// The norm hands over rows that are rounded to the int8 grid already.
#include "fusion/clauses.h"

namespace atb::rules {

Rule norm_quantize() {
  return Rule("norm_quantize")
      .row(6)
      .equation("y = quantize(norm(x))")
      .pattern(norm(any("x"), weight("gamma"), weight("beta")) >> quantize(_))
      .shapes("x [.., K], gamma [K], beta [K]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, gamma_of_row, gamma_dtype, gamma_is_raw})
      .numerics(Numerics::kBitExact)
      .kinds(kKindLayerNorm)
      .saves("traffic(normed), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %gamma = param "gamma" : T[24]
  %n = rms_norm(%x, %gamma)
  %y = quantize(%n) {group = 8}
  output "y" %y
)");
}

}  // namespace atb::rules

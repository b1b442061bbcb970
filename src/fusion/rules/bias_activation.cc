// Activation of a product with bias, whichever variant the graph names: erf stays erf.
#include "fusion/clauses.h"

namespace atb::rules {

Rule bias_activation() {
  return Rule("bias_activation")
      .row(9)
      .equation("y = act(x + bias)")
      .pattern(add(any("x"), weight("bias")) >> activation(_))
      .shapes("x [.., N], bias [N]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, bias_of_row})
      .numerics(Numerics::kReordersFp32)
      .kinds(kBlock | kKindBias)
      .saves("traffic(biased), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %bias = param "bias" : T[24]
  %p = add(%x, %bias)
  %y = activation(%p) {kind = gelu}
  output "y" %y
)");
}

}  // namespace atb::rules

// The activated gate multiplies up (SwiGLU, GeGLU, ReGLU). Which factor was activated is read off the graph.
#include "fusion/clauses.h"

namespace atb::rules {

Rule activation_gate() {
  return Rule("activation_gate")
      .row(12)
      .equation("y = act(g) * u")
      .pattern(activation(any("g")) >> mul(_, any("u")))
      .shapes("g [.., N], u [.., N]")
      .require(
          {inference, no_cast_between, fp32_accumulates, single_use, same_shape, one_activated_factor, gate_function})
      .numerics(Numerics::kReordersFp32)
      .kinds(kBlock)
      .saves("traffic(activated), 1 launch")
      .example(R"(
  %g = input "g" : T[tokens, 24]
  %u = input "u" : T[tokens, 24]
  %a = activation(%g) {kind = silu}
  %y = mul(%a, %u)
  output "y" %y
)");
}

}  // namespace atb::rules

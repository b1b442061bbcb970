// The outer half of a soft-cap: tanh is scaled back to the cap.
#include "fusion/clauses.h"

namespace atb::rules {

Rule softcap_scale() {
  return Rule("softcap_scale")
      .row(18)
      .equation("y = tanh(x) * c")
      .pattern(activation(any("x")).with({is("kind", "tanh")}) >> mul(_, number("cap")))
      .shapes("x [.., N]")
      .require({inference, no_cast_between, fp32_accumulates, single_use})
      .numerics(Numerics::kReordersFp32)
      .saves("traffic(tanh), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %cap = constant 50 : f32[]
  %t = activation(%x) {kind = tanh}
  %y = mul(%t, %cap)
  output "y" %y
)");
}

}  // namespace atb::rules

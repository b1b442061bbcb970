// The inner half of a soft-cap c tanh(s/c): the scaled value goes through tanh.
#include "fusion/clauses.h"

namespace atb::rules {

Rule softcap() {
  return Rule("softcap")
      .row(18)
      .equation("t = tanh(s * (1/c))")
      .pattern(mul(any("s"), number("inverse")) >> activation(_).with({is("kind", "tanh")}))
      .shapes("s [.., N]")
      .require({inference, no_cast_between, fp32_accumulates, single_use})
      .numerics(Numerics::kReordersFp32)
      .saves("traffic(scaled), 1 launch")
      .example(R"(
  %s = input "s" : T[tokens, 24]
  %inverse = constant 0.02 : f32[]
  %m = mul(%s, %inverse)
  %y = activation(%m) {kind = tanh}
  output "y" %y
)");
}

}  // namespace atb::rules

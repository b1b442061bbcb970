// Softmax takes scaled or masked scores from the chip.
#include "fusion/clauses.h"

namespace atb::rules {

Rule scale_softmax() {
  return Rule("scale_softmax")
      .row(25)
      .equation("p = softmax(s c), p = softmax(s + mask)")
      .pattern((NodePattern(mul(any("s"), number("c"))) | add(any("s"), any("bias"))) >> softmax(_))
      .shapes("s [.., H, Tq, Tk]")
      .require({inference, no_cast_between, fp32_accumulates, single_use})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(scaled), 1 launch")
      .example(R"(
  %s = input "s" : T[3, tokens, keys]
  %c = constant 0.125 : f32[]
  %m = mul(%s, %c)
  %y = softmax(%m)
  output "y" %y
)");
}

}  // namespace atb::rules

// The second product of an MLP takes its rows from the epilogue of the first: the hidden activation stays on chip.
#include "fusion/clauses.h"

namespace atb::rules {

Rule back_to_back() {
  return Rule("back_to_back")
      .row(16)
      .equation("y = act(x W1 [+ bias]) [* u] W2")
      .pattern((NodePattern(activation(any("h"))) | mul(any("a"), any("u")) | matmul(any("x"), any("w1")) |
                add(any("p"), weight("bias"))) >>
               matmul(_, any("w")))
      .shapes("x [.., K], W1 [H, K], W2 [N, H]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, plain_matrix})
      .numerics(Numerics::kReordersFp32)
      .kinds(kBlock)
      .saves("traffic(hidden), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %w = param "w" : T[40, 24]
  %h = activation(%x) {kind = gelu}
  %y = matmul(%h, %w)
  output "y" %y
)");
}

}  // namespace atb::rules

// Gate and up projections of one input are one group of products: the input is read once.
#include "fusion/clauses.h"

namespace atb::rules {

Rule gate_up() {
  return Rule("gate_up")
      .row(12)
      .equation("g = x Wg, u = x Wu")
      .pattern(siblings(matmul(_, any("w"))))
      .shapes("x [.., K], Wg [N, K], Wu [N, K]")
      .require({inference, fp32_accumulates, plain_matrix, same_gate})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindMlp)
      .saves("traffic(x), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %wg = param "wg" : T[40, 24]
  %wu = param "wu" : T[40, 24]
  %g = matmul(%x, %wg)
  %u = matmul(%x, %wu)
  %a = activation(%g) {kind = silu}
  %y = mul(%a, %u)
  output "y" %y
)");
}

}  // namespace atb::rules

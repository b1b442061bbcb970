// A transposed weight is read as it lies. Only the swap of a matrix's two axes is that: any other permutation is not.
#include "fusion/clauses.h"

namespace atb::rules {

Rule transposed_weight() {
  return Rule("transposed_weight")
      .row(10)
      .equation("y = x (Wt)t")
      .pattern(transpose(weight("wt")).with({bound("permutation")}) >> matmul(any("x"), _))
      .shapes("Wt [K, N], x [.., K]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, swaps_matrix_axes})
      .numerics(Numerics::kBitExact)
      .saves("a copy of the weight")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %wt = param "wt" : T[24, 40]
  %w = transpose(%wt) {permutation = [1, 0]}
  %y = matmul(%x, %w)
  output "y" %y
)");
}

}  // namespace atb::rules

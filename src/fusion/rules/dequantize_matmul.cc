// A weight that is stored narrow is widened as it streams into the product. Block formats need no link: the
// product reads them itself.
#include "fusion/clauses.h"

namespace atb::rules {

Rule dequantize_matmul() {
  return Rule("dequantize_matmul")
      .row(14)
      .equation("y = x cast(W)")
      .pattern(cast(weight("stored")) >> matmul(any("x"), _))
      .shapes("W [N, K], x [.., K]")
      .require({inference, fp32_accumulates, single_use, plain_matrix})
      .numerics(Numerics::kReordersFp32)
      .saves("a widened copy of the weight, 1 launch")
      .example(R"(
  %x = input "x" : f32[tokens, 24]
  %stored = param "stored" : i8[40, 24]
  %w = cast(%stored) {dtype = f32}
  %y = matmul(%x, %w)
  output "y" %y
)");
}

}  // namespace atb::rules

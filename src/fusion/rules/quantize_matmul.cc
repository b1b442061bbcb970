// Rows are rounded to the int8 grid on their way into a product.
#include "fusion/clauses.h"

namespace atb::rules {

Rule quantize_matmul() {
  return Rule("quantize_matmul")
      .row(6)
      .equation("y = quantize(x) W")
      .pattern(quantize(any("x")) >> matmul(_, any("w")))
      .shapes("x [.., K], W [N, K]")
      .require({inference, no_cast_between, fp32_accumulates, only_products_read, plain_matrix})
      .numerics(Numerics::kReordersFp32)
      .kinds(kBlock)
      .saves("traffic(quantised), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %w = param "w" : T[40, 24]
  %q = quantize(%x) {group = 8}
  %y = matmul(%q, %w)
  output "y" %y
)");
}

}  // namespace atb::rules

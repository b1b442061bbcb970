// A projection goes straight into the cache: values, and keys of models without rotation.
#include "fusion/clauses.h"

namespace atb::rules {

Rule matmul_kv_append() {
  return Rule("matmul_kv_append")
      .row(23)
      .equation("cache = [cache; x W [+ bias]]")
      .pattern((NodePattern(matmul(any("x"), any("w"))) | add(any("p"), weight("bias"))) >> kv_append(any("state"), _))
      .through(kSplits)
      .shapes("x [T, K], W [G*D, K], cache [past, G*D]")
      .require({inference, no_cast_between, fp32_accumulates, slices_do_not_overlap, state_read_once})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(projected), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %w = param "w" : T[24, 24]
  %state = state "v" : T[past, 24]
  %p = matmul(%x, %w)
  %y = kv_append(%state, %p)
  output "y" %y
)");
}

}  // namespace atb::rules

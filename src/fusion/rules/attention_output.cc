// The output projection takes the heads' results from the chip.
#include "fusion/clauses.h"

namespace atb::rules {

Rule attention_output() {
  return Rule("attention_output")
      .row(19)
      .equation("y = o Wo")
      .pattern(values(any("p"), any("v")) >> matmul(_, any("w")))
      .shapes("o [.., Tq, H*D], Wo [N, H*D]")
      .require({inference, no_cast_between, fp32_accumulates, single_use, plain_matrix})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(o), 1 launch")
      .example(R"(
  %p = input "p" : T[3, tokens, keys]
  %v = input "v" : T[keys, 8]
  %w = param "w" : T[40, 24]
  %o = values(%p, %v) {heads = 3, kv_heads = 1, head_dim = 8}
  %y = matmul(%o, %w)
  output "y" %y
)");
}

}  // namespace atb::rules

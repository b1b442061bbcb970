// The result of attention is rounded to the int8 grid before the output projection.
#include "fusion/clauses.h"

namespace atb::rules {

Rule attention_quantize() {
  return Rule("attention_quantize")
      .row(24)
      .equation("y = quantize(p v)")
      .pattern(values(any("p"), any("v")) >> quantize(_))
      .shapes("p [.., H, Tq, Tk], v [.., Tk, G*D], y [.., Tq, H*D]")
      .require({inference, no_cast_between, fp32_accumulates, single_use})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(o), 1 launch")
      .example(R"(
  %p = input "p" : T[3, tokens, keys]
  %v = input "v" : T[keys, 8]
  %o = values(%p, %v) {heads = 3, kv_heads = 1, head_dim = 8}
  %y = quantize(%o) {group = 0}
  output "y" %y
)");
}

}  // namespace atb::rules

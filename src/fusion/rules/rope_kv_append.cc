// Keys are rotated and normed on their way into the cache.
#include "fusion/clauses.h"

namespace atb::rules {

Rule rope_kv_append() {
  return Rule("rope_kv_append")
      .row(23)
      .equation("cache = [cache; rope(x)]")
      .pattern((NodePattern(rope(any("x"), any("positions"), any("divisors"))) |
                norm(any("x"), weight("gamma"), weight("beta"))) >>
               kv_append(any("state"), _))
      .through(kHeads)
      .shapes("x [T, G*D], cache [past, G*D]")
      .require({inference, no_cast_between, single_use, state_read_once})
      .numerics(Numerics::kBitExact)
      .kinds(kKindAttention)
      .saves("traffic(rotated), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %positions = input "positions" : i32[tokens]
  %state = state "k" : T[past, 24]
  %k = rope(%x, %positions) {head_dim = 8, rotary_dim = 8}
  %y = kv_append(%state, %k)
  output "y" %y
)");
}

}  // namespace atb::rules

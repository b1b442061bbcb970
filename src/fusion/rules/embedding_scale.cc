// Embeddings are scaled while they are gathered (Gemma: by the root of the hidden size).
#include "fusion/clauses.h"

namespace atb::rules {

Rule embedding_scale() {
  return Rule("embedding_scale")
      .row(5)
      .equation("y = table[ids] * c")
      .pattern(embedding(any("table"), any("ids")) >> mul(_, number("c")))
      .shapes("table [V, D], ids [.., T]")
      .require({inference, no_cast_between, single_use})
      .numerics(Numerics::kBitExact)
      .saves("traffic(row), 1 launch")
      .example(R"(
  %table = param "table" : T[30, 24]
  %ids = input "ids" : i32[tokens]
  %c = constant 4.898979486 : f32[]
  %row = embedding(%table, %ids)
  %y = mul(%row, %c)
  output "y" %y
)");
}

}  // namespace atb::rules

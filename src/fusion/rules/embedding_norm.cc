// The norm behind the embeddings takes their rows as they are gathered.
#include "fusion/clauses.h"

namespace atb::rules {

Rule embedding_norm() {
  return Rule("embedding_norm")
      .row(5)
      .equation("y = norm(table[ids])")
      .pattern(embedding(any("table"), any("ids")) >> norm(_, weight("gamma"), weight("beta")))
      .shapes("table [V, D], ids [.., T], gamma [D], beta [D]")
      .also_yields("row")
      .require({inference, no_cast_between, fp32_accumulates, gamma_of_row, gamma_dtype, gamma_is_raw})
      .numerics(Numerics::kBitExact)
      .kinds(kKindLayerNorm)
      .saves("traffic(row), 1 launch")
      .example(R"(
  %table = param "table" : T[30, 24]
  %ids = input "ids" : i32[tokens]
  %gamma = param "gamma" : T[24]
  %row = embedding(%table, %ids)
  %y = rms_norm(%row, %gamma)
  output "y" %y
)");
}

}  // namespace atb::rules

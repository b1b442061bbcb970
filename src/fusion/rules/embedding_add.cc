// Word, position and type embeddings are summed while their rows are gathered.
#include "fusion/clauses.h"

namespace atb::rules {

Rule embedding_add() {
  return Rule("embedding_add")
      .row(5)
      .equation("y = word[ids] + position[ids] + type[ids]")
      .pattern((NodePattern(embedding(any("table"), any("ids"))) | add(embedded("a"), embedded("b"))) >>
               add(_, embedded("r")))
      .shapes("table [V, D], ids [.., T]")
      .require({inference, no_cast_between, single_use})
      .numerics(Numerics::kBitExact)
      .saves("traffic(row), 1 launch")
      .example(R"(
  %words = param "words" : T[30, 24]
  %types = param "types" : T[24]
  %ids = input "ids" : i32[tokens]
  %word = embedding(%words, %ids)
  %y = add(%word, %types)
  output "y" %y
)");
}

}  // namespace atb::rules

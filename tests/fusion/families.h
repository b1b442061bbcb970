// One layer of each model family as a capture of its torch code looks: norms, activations, rotations and attention in
// primitive operators, in the spelling of that family's Hugging Face module. Sizes are tiny; rows are `tokens`.
#pragma once

#include <atb/graph.h>

#include <span>

namespace atb::testing {

struct Family {
  const char* name;  ///< "llama": the golden text is golden/<name>.txt
  Graph (*build)();
};
std::span<const Family> families();

/// `count` layers like `layer`, one behind the other: weights are each layer's own, tables and masks are shared.
Graph stacked(const Graph& layer, int64_t count);

}  // namespace atb::testing

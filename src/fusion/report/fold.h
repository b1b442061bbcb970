// Layers of one kind, told once.
#pragma once

#include <atb/explain.h>

namespace atb {

/// Layers whose figures, regions, near misses and conflicts are the same but for the layer's number.
struct LayerGroup {
  std::string title;  ///< "layers.0-29", "layers.0-4,6-10", "embedding"
  std::vector<const ExplainedLayer*> layers;
  const ExplainedLayer& first() const { return *layers.front(); }
};
std::vector<LayerGroup> fold_layers(const Explanation& explanation);

/// A path as its layer sees it: "mlp.down" in layer "layers.3", "[+1].attn_norm" for one of the next layer.
std::string relative_path(const std::string& path, const std::string& layer);

}  // namespace atb

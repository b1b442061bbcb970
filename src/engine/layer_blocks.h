// Node sets of a decoder layer by their paths: what the articles call MLP, attention and LayerNorm fusion.
#pragma once

#include <atb/graph.h>

#include <vector>

namespace atb {

using NodeSets = std::vector<std::vector<NodeId>>;

enum class Block { kAttention, kMlp, kOther };
/// By the node's path: "layers.N.attn..." and "layers.N.mlp...", norm and residual included.
Block block_of(const Node& node);

/// One set per layer: the whole attention or MLP block.
NodeSets whole_blocks(const Graph& graph, Block block);
/// Article 2: each norm with the addition before it and the matrix products that read it; the set's block is that of
/// its norm.
NodeSets norm_regions(const Graph& graph);

}  // namespace atb

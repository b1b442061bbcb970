// What the rules ask of a graph again and again, computed once.
#pragma once

#include <atb/fusion.h>

#include <string_view>
#include <vector>

namespace atb {

/// The block of a layer that a node works for, from its norm-in to its residual-out.
enum class Block : uint8_t { kNone, kAttention, kMlp };

struct Facts {
  explicit Facts(const Graph& graph);

  const Graph& graph;
  std::vector<std::vector<NodeId>> users;  ///< per value; a node that reads it twice stands there twice
  std::vector<bool> outputs;               ///< per value
  std::vector<bool> weights;               ///< per value: a param, or computed from params and constants alone
  std::vector<bool> embeddings;            ///< per value: a row of an embedding, or a sum of such rows
  std::vector<Block> blocks;               ///< per node

  const Node& node(NodeId id) const { return graph.node(id); }
  const Value& value(ValueId id) const { return graph.value(id); }
  const std::vector<NodeId>& users_of(ValueId id) const { return users[static_cast<size_t>(id)]; }
  bool is_output(ValueId id) const { return outputs[static_cast<size_t>(id)]; }
  bool is_weight(ValueId id) const { return weights[static_cast<size_t>(id)]; }
  bool is_activation(ValueId id) const;
  bool is_embedding(ValueId id) const { return embeddings[static_cast<size_t>(id)]; }
  Block block_of(NodeId id) const { return blocks[static_cast<size_t>(id)]; }
  /// The node that computes a value, or null.
  const Node* producer(ValueId id) const;
  /// The path of a node, or its op and value where it has none: "layers.0.mlp.down", "matmul %12".
  std::string where(NodeId id) const;
};

inline bool is_view(const Node& node) { return op_info(node.op).kind == OpKind::kView; }

inline bool is_norm(Op op) { return op == Op::kLayerNorm || op == Op::kRmsNorm; }

/// An add whose other operand is a second activation, not a bias or a number.
bool is_residual_add(const Facts& facts, const Node& node);

/// "layers.3" of "layers.3.mlp.down": up to and with the first number; empty without one.
std::string_view layer_of(std::string_view path);

}  // namespace atb

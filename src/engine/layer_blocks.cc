#include "engine/layer_blocks.h"

#include <map>
#include <string>

namespace atb {
namespace {

/// "layers.3" of "layers.3.attn.q"; empty outside of layers.
std::string layer_of(const std::string& path) {
  if (path.rfind("layers.", 0) != 0) return "";
  return path.substr(0, path.find('.', 7));
}

bool is_norm(Op op) { return op == Op::kLayerNorm || op == Op::kRmsNorm; }

}  // namespace

Block block_of(const Node& node) {
  const std::string layer = layer_of(node.path);
  if (layer.empty()) return Block::kOther;
  if (node.path.compare(layer.size(), 5, ".attn") == 0) return Block::kAttention;
  return node.path.compare(layer.size(), 4, ".mlp") == 0 ? Block::kMlp : Block::kOther;
}

NodeSets whole_blocks(const Graph& graph, Block block) {
  std::map<std::string, size_t> set_of;
  NodeSets sets;
  for (NodeId id = 0; static_cast<size_t>(id) < graph.nodes().size(); ++id) {
    if (block_of(graph.node(id)) != block) continue;
    const auto [at, added] = set_of.try_emplace(layer_of(graph.node(id).path), sets.size());
    if (added) sets.emplace_back();
    sets[at->second].push_back(id);
  }
  return sets;
}

NodeSets norm_regions(const Graph& graph) {
  const std::vector<std::vector<NodeId>> users = graph.users();
  NodeSets sets;
  for (NodeId id = 0; static_cast<size_t>(id) < graph.nodes().size(); ++id) {
    const Node& norm = graph.node(id);
    if (!is_norm(norm.op) || block_of(norm) == Block::kOther) continue;
    std::vector<NodeId>& set = sets.emplace_back();
    const NodeId before = graph.value(norm.inputs[0]).producer;
    if (before != kNoNode && graph.node(before).op == Op::kAdd) set.push_back(before);
    set.push_back(id);
    for (NodeId user : users[static_cast<size_t>(norm.output)])
      if (graph.node(user).op == Op::kMatMul) set.push_back(user);
  }
  return sets;
}

}  // namespace atb

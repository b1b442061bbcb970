#include "fusion/facts.h"

#include <algorithm>
#include <cctype>

namespace atb {
namespace {

std::vector<bool> find_outputs(const Graph& graph) {
  std::vector<bool> outputs(graph.values().size());
  for (const auto& [name, id] : graph.outputs()) outputs[static_cast<size_t>(id)] = true;
  return outputs;
}

// Values are in the order of their definitions, so one sweep settles them.
std::vector<bool> find_weights(const Graph& graph) {
  std::vector<bool> weights(graph.values().size());
  const auto constant = [&](ValueId id) { return graph.value(id).kind == ValueKind::kConstant; };
  for (size_t i = 0; i < weights.size(); ++i) {
    const Value& value = graph.values()[i];
    weights[i] = value.kind == ValueKind::kParam;
    if (value.kind != ValueKind::kResult) continue;
    const std::vector<ValueId>& in = graph.node(value.producer).inputs;
    const bool fixed =
        std::all_of(in.begin(), in.end(), [&](ValueId id) { return constant(id) || weights[static_cast<size_t>(id)]; });
    weights[i] = fixed && !std::all_of(in.begin(), in.end(), constant);
  }
  return weights;
}

std::vector<bool> find_embeddings(const Graph& graph, const std::vector<bool>& weights) {
  std::vector<bool> found(graph.values().size());
  for (const Node& node : graph.nodes()) {
    const auto summand = [&](ValueId id) { return found[static_cast<size_t>(id)] || weights[static_cast<size_t>(id)]; };
    const bool sum = node.op == Op::kAdd && summand(node.inputs[0]) && summand(node.inputs[1]);
    found[static_cast<size_t>(node.output)] =
        node.op == Op::kEmbedding || (sum && !weights[static_cast<size_t>(node.output)]);
  }
  return found;
}

/// Gives each node its block. A product belongs to attention if its result feeds scores or values, or if it takes their
/// result; to an MLP if it stands before or behind another product with no norm between. Everything else
/// goes with what it computes on, up to the residual add.
class BlockFinder {
 public:
  BlockFinder(const Facts& facts, std::vector<Block>& blocks) : facts_(facts), blocks_(blocks) {}

  void run() {
    const auto count = static_cast<NodeId>(facts_.graph.nodes().size());
    std::vector<Reach> reach(static_cast<size_t>(count));
    for (NodeId id = count - 1; id >= 0; --id) reach[static_cast<size_t>(id)] = reach_of(id, reach);
    for (NodeId id = 0; id < count; ++id)
      blocks_[static_cast<size_t>(id)] = block_of(id, reach[static_cast<size_t>(id)]);
  }

 private:
  /// What the result of a node comes to before a residual add: scores or values, or a product.
  struct Reach {
    bool attention = false, product = false;
  };

  Reach reach_of(NodeId id, const std::vector<Reach>& reach) const {
    Reach found;
    const Node& node = facts_.node(id);
    if (is_residual_add(facts_, node)) return found;
    for (const NodeId user : facts_.users_of(node.output)) {
      const Op op = facts_.node(user).op;
      if (op == Op::kScores || op == Op::kValues) found.attention = true;
      if (op == Op::kMatMul) found.product = true;
      if (op == Op::kMatMul || op == Op::kScores || op == Op::kValues) continue;
      found.attention |= reach[static_cast<size_t>(user)].attention;
      found.product |= !is_norm(op) && reach[static_cast<size_t>(user)].product;
    }
    return found;
  }

  Block block_of(NodeId id, const Reach& reach) const {
    const Node& node = facts_.node(id);
    switch (node.op) {
      case Op::kScores:
      case Op::kSoftmax:
      case Op::kValues:
      case Op::kRope:
      case Op::kKvAppend:
        return Block::kAttention;
      case Op::kEmbedding:
      case Op::kTakeRows:
        return Block::kNone;
      case Op::kMatMul:
        return product_block(node, reach);
      default:
        return flow_block(node);
    }
  }

  Block product_block(const Node& node, const Reach& reach) const {
    if (reach.attention) return Block::kAttention;
    const Block before = flow_block(node);
    if (before != Block::kNone) return before;
    return reach.product ? Block::kMlp : Block::kNone;
  }

  /// The block of what flows in; nothing flows in from beyond a residual add.
  Block flow_block(const Node& node) const {
    for (const ValueId input : node.inputs) {
      const Node* producer = facts_.producer(input);
      if (producer == nullptr || is_residual_add(facts_, *producer)) continue;
      const Block block = facts_.block_of(facts_.value(input).producer);
      if (block != Block::kNone) return block;
    }
    return Block::kNone;
  }

  const Facts& facts_;
  std::vector<Block>& blocks_;
};

}  // namespace

Facts::Facts(const Graph& g)
    : graph(g),
      users(g.users()),
      outputs(find_outputs(g)),
      weights(find_weights(g)),
      embeddings(find_embeddings(g, weights)),
      blocks(g.nodes().size()) {
  BlockFinder(*this, blocks).run();
}

bool Facts::is_activation(ValueId id) const {
  const ValueKind kind = value(id).kind;
  return (kind == ValueKind::kResult || kind == ValueKind::kInput) && !is_weight(id);
}

const Node* Facts::producer(ValueId id) const {
  const NodeId node = value(id).producer;
  return node == kNoNode ? nullptr : &graph.node(node);
}

std::string Facts::where(NodeId id) const {
  const Node& n = node(id);
  return n.path.empty() ? std::string(op_info(n.op).name) + " %" + value(n.output).name : n.path;
}

bool is_residual_add(const Facts& facts, const Node& node) {
  return node.op == Op::kAdd && facts.is_activation(node.inputs[0]) && facts.is_activation(node.inputs[1]);
}

std::string_view layer_of(std::string_view path) {
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (!part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) { return std::isdigit(c) != 0; }))
      return path.substr(0, end);
    begin = end + 1;
  }
  return {};
}

}  // namespace atb

#include "fusion/names.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

namespace atb {
namespace {

enum class Compare { kExactly, kInOrder /* further operators may stand between */ };

struct NamedRegion {
  const char* name;
  Compare compare;
  std::vector<Op> ops;
};

const std::vector<NamedRegion>& named_regions() {
  static const std::vector<NamedRegion> table = {
#define ATB_REGION(name, compare, ...) {#name, Compare::compare, {__VA_ARGS__}},
#include "fusion/names.inc"
#undef ATB_REGION
  };
  return table;
}

bool in_order(const std::vector<Op>& wanted, const std::vector<Op>& ops) {
  auto next = wanted.begin();
  for (const Op op : ops)
    if (next != wanted.end() && *next == op) ++next;
  return next == wanted.end();
}

bool fits(const NamedRegion& row, const std::vector<Op>& ops) {
  return row.compare == Compare::kExactly ? row.ops == ops : in_order(row.ops, ops);
}

/// "rms_norm" -> "RmsNorm", "matmul" -> "MatMul".
std::string part_name(Op op) {
  constexpr const char* kNames[] = {
#define ATB_OP(id, name, attrs, min_inputs, max_inputs, kind) #id,
#include <atb/ops.inc>
#undef ATB_OP
  };
  return kNames[static_cast<size_t>(op)];
}

std::string name_by_parts(const std::vector<Op>& ops) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < ops.size();) {
    size_t end = i;
    while (end < ops.size() && ops[end] == ops[i]) ++end;
    parts.push_back(part_name(ops[i]) + (end - i > 1 ? "*" + std::to_string(end - i) : ""));
    i = end;
  }
  return join(parts, "+");
}

std::vector<Op> operators(const Facts& facts, std::span<const NodeId> nodes) {
  std::vector<Op> ops;
  for (const NodeId id : nodes)
    if (!is_view(facts.node(id))) ops.push_back(facts.node(id).op);
  return ops;
}

/// The words of one region, in the order of the log line.
class Words {
 public:
  Words(const Facts& facts, std::span<const NodeId> nodes) : facts_(facts), nodes_(nodes) {}

  std::string mlp() const {
    std::vector<std::string> words;
    for (const NodeId id : nodes_) append(words, facts_.node(id), id);
    return join(words, " + ");
  }

  /// The attention itself first, as in the article; what stands around it behind.
  std::string attention() const {
    std::vector<std::string> core, around;
    if (projects()) core.emplace_back("QKV");
    core.emplace_back("Softmax");
    bool behind = false;
    for (const NodeId id : nodes_) {
      const Node& node = facts_.node(id);
      if (node.op == Op::kValues) behind = true;
      if (node.op == Op::kMatMul && behind) core.emplace_back("OutputProjection");
      if (is_residual_add(facts_, node)) around.emplace_back("Residual");
      if (is_norm(node.op)) add_once(around, norm_word(node.op));
    }
    return join(core, " + ") + (around.empty() ? "" : " (with " + join(around, ", ") + ")");
  }

 private:
  bool projects() const {
    for (const NodeId id : nodes_) {
      if (facts_.node(id).op == Op::kMatMul) return true;
      if (facts_.node(id).op == Op::kValues) return false;
    }
    return false;
  }

  static void add_once(std::vector<std::string>& words, const std::string& word) {
    if (std::find(words.begin(), words.end(), word) == words.end()) words.push_back(word);
  }

  static std::string norm_word(Op op) { return op == Op::kLayerNorm ? "LayerNorm" : "RMSNorm"; }

  bool gated() const {
    return std::any_of(nodes_.begin(), nodes_.end(), [&](NodeId id) { return facts_.node(id).op == Op::kMul; });
  }

  void append(std::vector<std::string>& words, const Node& node, NodeId id) const {
    if (is_norm(node.op)) words.push_back(norm_word(node.op));
    if (is_residual_add(facts_, node)) words.emplace_back("Residual");
    if (node.op == Op::kActivation) words.push_back(activation_word(std::get<ActivationAttrs>(node.attrs).kind));
    if (node.op != Op::kMatMul) return;
    const bool first =
        std::none_of(words.begin(), words.end(), [](const std::string& w) { return w.ends_with("Dense"); });
    if (first) words.emplace_back(gated() ? "GatedDense" : "Dense");
    if (!first && !shares_input(id)) words.emplace_back("Dense");
  }

  /// The second product of gate and up: one word names both.
  bool shares_input(NodeId id) const {
    for (const NodeId other : nodes_) {
      if (other >= id) break;
      if (facts_.node(other).op == Op::kMatMul && facts_.node(other).inputs[0] == facts_.node(id).inputs[0])
        return true;
    }
    return false;
  }

  static std::string activation_word(ActivationKind kind) {
    constexpr const char* kWords[] = {"GELU", "GELU(tanh)", "GELU(quick)", "SiLU", "ReLU", "Sigmoid", "Tanh"};
    return kWords[static_cast<size_t>(kind)];
  }

  const Facts& facts_;
  std::span<const NodeId> nodes_;
};

}  // namespace

std::string region_name(const Facts& facts, std::span<const NodeId> nodes) {
  const std::vector<Op> ops = operators(facts, nodes);
  for (const NamedRegion& row : named_regions())
    if (fits(row, ops)) return row.name;
  return name_by_parts(ops);
}

std::string region_words(const Facts& facts, std::span<const NodeId> nodes) {
  const Words words(facts, nodes);
  const bool attention =
      std::any_of(nodes.begin(), nodes.end(), [&](NodeId id) { return facts.node(id).op == Op::kSoftmax; });
  return attention ? words.attention() : words.mlp();
}

}  // namespace atb

#include "fusion/links.h"

#include <algorithm>
#include <array>

#include "fusion/fuse.h"

namespace atb {
namespace {

using rules::Rule;
using rules::Site;

constexpr size_t kOpCount = 0
#define ATB_OP(id, name, attrs, min_inputs, max_inputs, kind) +1
#include <atb/ops.inc>
#undef ATB_OP
    ;

using RulesByOp = std::array<std::vector<const Rule*>, kOpCount>;

/// The rules whose consumer may be an operator, so that a node tries few of them.
const RulesByOp& rules_by_consumer() {
  static const RulesByOp table = [] {
    RulesByOp by_op;
    for (const Rule& rule : rules::all_rules()) {
      for (const rules::OpPattern& one : rule.pattern().consumer.alternatives) {
        std::vector<const Rule*>& list = by_op[static_cast<size_t>(one.op)];
        if (list.empty() || list.back() != &rule) list.push_back(&rule);
      }
    }
    return by_op;
  }();
  return table;
}

bool same_but_last(const Shape& a, const Shape& b, size_t drop_a, size_t drop_b) {
  return a.size() >= drop_a && b.size() >= drop_b &&
         std::equal(a.begin(), a.end() - static_cast<ptrdiff_t>(drop_a), b.begin(),
                    b.end() - static_cast<ptrdiff_t>(drop_b));
}

/// What a view is for links; none of the kinds if it moves more than the last axis.
int view_kind(const Facts& facts, const Node& view) {
  const Shape &from = facts.value(view.inputs[0]).shape, &to = facts.value(view.output).shape;
  if (const auto* slice = std::get_if<SliceAttrs>(&view.attrs)) {
    const auto last = static_cast<int64_t>(from.size()) - 1;
    return slice->step == 1 && (slice->axis == last || slice->axis == -1) ? rules::kSplits : rules::kNoViews;
  }
  if (view.op != Op::kReshape) return rules::kNoViews;
  const bool split = to.size() == from.size() + 1 && same_but_last(from, to, 1, 2);
  const bool merge = from.size() == to.size() + 1 && same_but_last(from, to, 2, 1);
  return split || merge ? rules::kHeads : rules::kNoViews;
}

/// A way from an operand of the consumer up to the node that computes it.
struct Way {
  NodeId producer = kNoNode;
  ValueId value = kNoValue;
  std::vector<NodeId> views;
  int kinds = rules::kNoViews;  ///< of the views on it
  std::optional<NodeId> cast;
};

/// All ways that a rule might name: straight to the next operator, and on through views and one cast. A view is an end
/// as well: a transpose is what a rule may join.
std::vector<Way> ways_up(const Facts& facts, ValueId operand) {
  std::vector<Way> ways;
  Way way;
  for (ValueId at = operand; facts.value(at).kind == ValueKind::kResult;) {
    const NodeId id = facts.value(at).producer;
    const Node& node = facts.node(id);
    way.producer = id;
    way.value = at;
    ways.push_back(way);
    const int kind = is_view(node) ? view_kind(facts, node) : rules::kNoViews;
    if (kind != rules::kNoViews) {
      way.views.insert(way.views.begin(), id);
      way.kinds |= kind;
    } else if (node.op == Op::kCast && !way.cast && !facts.is_weight(at)) {
      way.cast = id;
    } else {
      break;
    }
    at = node.inputs[0];
  }
  return ways;
}

bool views_fit(const Rule& rule, const Way& way) {
  if ((rule.views() & rules::kViewed) != 0 && way.kinds == rules::kNoViews) return false;
  return (way.kinds & ~rule.views()) == 0;
}

class Finder {
 public:
  Finder(const Facts& facts, const Switches& switches, bool training)
      : facts_(facts), switches_(switches), training_(training) {}

  Links run() {
    const auto count = static_cast<NodeId>(facts_.graph.nodes().size());
    for (NodeId id = 0; id < count; ++id) {
      join_operands(id);
      join_siblings(id);
    }
    return std::move(found_);
  }

 private:
  void join_operands(NodeId consumer) {
    const Node& node = facts_.node(consumer);
    const auto& candidates = rules_by_consumer()[static_cast<size_t>(node.op)];
    if (candidates.empty()) return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      for (const Way& way : ways_up(facts_, node.inputs[i])) {
        for (const Rule* rule : candidates)
          if (!rule->pattern().siblings) try_chain(*rule, way, consumer, static_cast<int>(i));
      }
    }
  }

  void try_chain(const Rule& rule, const Way& way, NodeId consumer, int operand) {
    if (!views_fit(rule, way)) return;
    const Node& node = facts_.node(consumer);
    std::vector<rules::Binding> from = match(rule.pattern().producer, facts_, facts_.node(way.producer), -1);
    if (from.empty()) return;
    std::vector<rules::Binding> bindings = match(rule.pattern().consumer, facts_, node, operand);
    if (bindings.empty()) return;
    bindings.insert(bindings.end(), from.begin(), from.end());
    decide(rule, {facts_, training_, way.producer, consumer, way.value, node.inputs[static_cast<size_t>(operand)],
                  way.views, way.cast, std::move(bindings)});
  }

  /// Joins a node with the first earlier reader of the same value that the rule takes.
  void join_siblings(NodeId consumer) {
    const Node& node = facts_.node(consumer);
    for (const Rule* rule : rules_by_consumer()[static_cast<size_t>(node.op)]) {
      if (!rule->pattern().siblings || !in_block(*rule, consumer)) continue;
      for (const NodeId other : facts_.users_of(node.inputs[0])) {
        if (other >= consumer) break;
        if (facts_.node(other).op == node.op && in_block(*rule, other) && try_siblings(*rule, other, consumer)) break;
      }
    }
  }

  /// Whether a rule of one block is asked about a node that may belong to it.
  bool in_block(const Rule& rule, NodeId node) const {
    const Block block = facts_.block_of(node);
    if ((rule.kinds() & kKindAttention) != 0) return block == Block::kAttention;
    return block != Block::kAttention;
  }

  bool try_siblings(const Rule& rule, NodeId first, NodeId second) {
    const std::vector<rules::Binding> a = match(rule.pattern().producer, facts_, facts_.node(first), 0);
    std::vector<rules::Binding> b = match(rule.pattern().consumer, facts_, facts_.node(second), 0);
    if (a.empty() || b.empty()) return false;
    const ValueId shared = facts_.node(second).inputs[0];
    return decide(rule, {facts_, training_, first, second, shared, shared, {}, {}, std::move(b)});
  }

  bool decide(const Rule& rule, const Site& site) {
    for (const rules::Clause& clause : rule.clauses()) {
      std::optional<rules::Refusal> refusal = clause.check(site);
      if (!refusal) continue;
      found_.refused.push_back(
          {&rule, site.producer, site.consumer, refusal->node, clause.name, std::move(refusal->detail)});
      return false;
    }
    found_.links.push_back(link(rule, site));
    return true;
  }

  Link link(const Rule& rule, const Site& site) const {
    const bool siblings = rule.pattern().siblings;
    const uint8_t kinds = kinds_of(rule, site);
    return {&rule,
            site.producer,
            site.consumer,
            site.value,
            site.views,
            siblings,
            !rule.yields().empty(),
            open_operand(site),
            kinds,
            switches_.allows(kinds) && !is_disabled(rule)};
  }

  static ValueId open_operand(const Site& site) {
    const std::vector<ValueId>& inputs = site.consumer_node().inputs;
    for (const rules::Binding& b : site.bindings) {
      const bool of_consumer = std::find(inputs.begin(), inputs.end(), b.value) != inputs.end();
      if (of_consumer && b.operand.kind == rules::OperandKind::kStream && b.value != site.operand) return b.value;
    }
    return kNoValue;
  }

  /// A link belongs to the block of its product, or of what flows in.
  uint8_t kinds_of(const Rule& rule, const Site& site) const {
    uint8_t kinds = rule.kinds();
    if ((kinds & rules::kBlock) == 0) return kinds;
    const NodeId member = site.consumer_node().op == Op::kMatMul ? site.consumer : site.producer;
    kinds = static_cast<uint8_t>(kinds & ~rules::kBlock);
    const Block block = facts_.block_of(member);
    if (block == Block::kAttention) kinds |= kKindAttention;
    if (block == Block::kMlp) kinds |= kKindMlp;
    return kinds;
  }

  bool is_disabled(const Rule& rule) const {
    return std::find(switches_.disabled.begin(), switches_.disabled.end(), rule.name()) != switches_.disabled.end();
  }

  const Facts& facts_;
  const Switches& switches_;
  bool training_;
  Links found_;
};

}  // namespace

Links find_links(const Facts& facts, const Switches& switches, bool training) {
  return Finder(facts, switches, training).run();
}

}  // namespace atb

#include "fusion/local_graph.h"

#include <algorithm>
#include <functional>
#include <map>

#include "base/check.h"

namespace atb {
namespace {

/// Appends what a value is, apart from its name: equal text, equal cost.
class StructureWriter {
 public:
  explicit StructureWriter(const Facts& facts) : facts_(facts) {}

  void put(int64_t number) { out.push_back(number); }

  void put_type(const Value& value) {
    put(static_cast<int64_t>(value.dtype));
    put(static_cast<int64_t>(value.shape.size()));
    for (const Dim& dim : value.shape) {
      put(dim.constant());
      put(static_cast<int64_t>(dim.terms().size()));
      for (const auto& [symbol, factor] : dim.terms()) {
        put(static_cast<int64_t>(std::hash<std::string>{}(symbol)));
        put(factor);
      }
    }
  }

  /// A value from outside of the window: the first, the second, ... and what it is.
  void put_outside(ValueId id) {
    const auto [entry, fresh] = outside_.try_emplace(id, -1 - static_cast<int64_t>(outside_.size()));
    put(entry->second);
    if (!fresh) return;
    const Value& value = facts_.value(id);
    put(static_cast<int64_t>(value.kind));
    put(facts_.is_weight(id) ? 1 : 0);
    if (value.kind == ValueKind::kConstant) put(static_cast<int64_t>(std::hash<double>{}(value.constant)));
    put_type(value);
  }

  std::vector<int64_t> out;

 private:
  const Facts& facts_;
  std::map<ValueId, int64_t> outside_;
};

}  // namespace

LocalGraph::LocalGraph(const Facts& facts, std::span<const Link> links, NodeId begin, NodeId end)
    : facts_(facts), begin_(begin), nodes_(static_cast<size_t>(end - begin)) {
  ATB_CHECK(end - begin <= kMaxWindow);
  connect();
  const auto first =
      std::partition_point(links.begin(), links.end(), [&](const Link& link) { return link.consumer < begin; });
  for (auto link = first; link != links.end() && link->consumer < end; ++link)
    if (inside(link->producer)) add_link(*link);
  for (const Link* link : all_) {
    if (link->on) continue;
    // A link that is off splits the region there, whatever else would join its ends.
    for (const NodeId input : {link->producer, link->views.empty() ? link->producer : link->views.back()})
      if (!link->siblings) nodes_[static_cast<size_t>(index(link->consumer))].joined &= ~bit(index(input));
  }
  add_open_edges();
  group_siblings();
}

void LocalGraph::connect() {
  for (int i = 0; i < size(); ++i) {
    LocalNode& at = nodes_[static_cast<size_t>(i)];
    for (const ValueId input : node(i).inputs) {
      const NodeId producer = facts_.value(input).producer;
      if (producer == kNoNode || !inside(producer) || facts_.is_weight(input)) continue;
      at.inputs |= bit(index(producer));
      at.ancestors |= bit(index(producer)) | nodes_[static_cast<size_t>(index(producer))].ancestors;
    }
    for (const int input : bits(at.inputs)) nodes_[static_cast<size_t>(input)].users |= bit(i);
    for (const int above : bits(at.ancestors)) nodes_[static_cast<size_t>(above)].descendants |= bit(i);
    const ValueId result = node(i).output;
    const std::vector<NodeId>& users = facts_.users_of(result);
    at.outside =
        facts_.is_output(result) || !std::all_of(users.begin(), users.end(), [&](NodeId id) { return inside(id); });
  }
}

void LocalGraph::add_link(const Link& link) {
  all_.push_back(&link);
  if (!link.on) return;
  LocalLink local{&link, index(link.producer), index(link.consumer), 0};
  local.nodes = bit(local.producer) | bit(local.consumer);
  if (!link.siblings) {
    int from = local.producer;
    for (const NodeId view : link.views) {
      local.nodes |= bit(index(view));
      nodes_[static_cast<size_t>(index(view))].joined |= bit(from);
      from = index(view);
    }
    nodes_[static_cast<size_t>(local.consumer)].joined |= bit(from);
    nodes_[static_cast<size_t>(local.producer)].yields |= link.yields;
  }
  links_.push_back(local);
}

void LocalGraph::add_open_edges() {
  for (const LocalLink& local : links_) {
    if (local.link->open == kNoValue) continue;
    const NodeId producer = facts_.value(local.link->open).producer;
    if (producer == kNoNode || !inside(producer)) continue;
    nodes_[static_cast<size_t>(local.consumer)].open.push_back({index(producer), local.nodes});
  }
}

void LocalGraph::group_siblings() {
  for (int i = 0; i < size(); ++i) nodes_[static_cast<size_t>(i)].siblings = bit(i);
  for (const LocalLink& local : links_) {
    if (!local.link->siblings) continue;
    const Mask group = at(local.producer).siblings | at(local.consumer).siblings;
    for (const int member : bits(group)) nodes_[static_cast<size_t>(member)].siblings = group;
  }
  for (int i = 0; i < size(); ++i) {
    if (node(i).op != Op::kMatMul) continue;
    for (const NodeId other : facts_.users_of(node(i).inputs[0])) {
      const bool product = inside(other) && facts_.node(other).op == Op::kMatMul;
      if (product && (at(i).siblings & bit(index(other))) == 0)
        nodes_[static_cast<size_t>(i)].strangers |= bit(index(other));
    }
  }
}

std::vector<NodeId> LocalGraph::ids(Mask mask) const {
  std::vector<NodeId> list;
  for (const int i : bits(mask)) list.push_back(id(i));
  return list;
}

std::vector<int64_t> LocalGraph::structure() const {
  StructureWriter writer(facts_);
  for (int i = 0; i < size(); ++i) {
    const Node& n = node(i);
    writer.put(static_cast<int64_t>(n.op));
    writer.put(static_cast<int64_t>(hash_of(n.attrs)));
    writer.put(at(i).outside ? 1 : 0);
    writer.put_type(facts_.value(n.output));
    writer.put(static_cast<int64_t>(n.inputs.size()));
    for (const ValueId input : n.inputs) {
      const NodeId producer = facts_.value(input).producer;
      if (producer != kNoNode && inside(producer)) {
        writer.put(index(producer));
      } else {
        writer.put_outside(input);
      }
    }
  }
  for (const Link* link : all_) {
    for (const int64_t part :
         {static_cast<int64_t>(link->rule - rules::all_rules().data()), static_cast<int64_t>(index(link->producer)),
          static_cast<int64_t>(index(link->consumer)), static_cast<int64_t>(link->on)})
      writer.put(part);
  }
  return std::move(writer.out);
}

}  // namespace atb

// Rewriting a graph: values are replaced by others, what nobody reads any more falls away, and finish() writes the
// graph down again in the order of the original.
#pragma once

#include <atb/graph.h>

#include <set>
#include <string>
#include <vector>

namespace atb {

/// A graph that can be changed. Value ids of the original stay valid throughout; new values get new ids. Nodes that
/// lost their last reader are gone for users() and is_live() at once.
class GraphRewriter {
 public:
  explicit GraphRewriter(const Graph& graph);

  const Value& value(ValueId id) const { return values_.at(static_cast<size_t>(id)); }
  /// The node that computes `id`; nullptr for anything that is not computed.
  const Node* producer(ValueId id) const;
  /// Nodes that read `id`, once per use, by their results.
  const std::vector<ValueId>& users(ValueId id) const { return users_.at(static_cast<size_t>(id)); }
  bool is_output(ValueId id) const { return output_uses_.at(static_cast<size_t>(id)) > 0; }
  /// Whether anything reads it, or it is kept for its effect (kv_append).
  bool is_live(ValueId id) const;
  /// One past the largest id.
  ValueId end() const { return static_cast<ValueId>(values_.size()); }

  /// A node that nothing reads yet; an equal one that exists is taken instead. Error{kModel} as Graph::add.
  ValueId add(Op op, Attrs attrs, std::vector<ValueId> inputs, std::string path);
  ValueId constant(double value, DType dtype = DType::kF32);
  /// Every reader of `from`, the graph's outputs included, reads `to` from now on. Both have the same dtype and shape.
  /// A new `to` takes over the place of `from` in the order; it and the new nodes that it is made of take over the
  /// sources of every node that dies.
  void replace(ValueId from, ValueId to);

  /// The nodes of the original graph that a value stands for.
  const std::set<NodeId>& sources(ValueId id) const { return sources_.at(static_cast<size_t>(id)); }

  struct Result {
    Graph graph;
    std::vector<std::set<NodeId>> sources;  ///< per node of `graph`, nodes of the original
  };
  /// The graph as it is now, verified. Inputs, params and states stay even if nothing reads them.
  Result finish() const;

 private:
  friend class GraphWriter;
  ValueId new_value(Value value);
  ValueId find_equal(Op op, const Attrs& attrs, const std::vector<ValueId>& inputs) const;
  void redirect(ValueId user, ValueId from, ValueId to);
  void drop_if_dead(ValueId id, std::set<NodeId>& sources);
  void hand_over(const std::set<NodeId>& sources, ValueId to);

  std::string name_;
  std::vector<Value> values_;  // kResult: producer is an index into nodes_
  std::vector<Node> nodes_;
  std::vector<std::pair<std::string, ValueId>> outputs_;
  std::vector<std::vector<ValueId>> users_;
  std::vector<int> output_uses_;
  std::vector<ValueId> replaced_by_;  // kNoValue: not replaced
  std::vector<std::set<NodeId>> sources_;
  ValueId original_end_;
};

/// The longest dotted path that all of `paths` share: "a.b" of "a.b.c" and "a.b.d". A single path is itself.
std::string common_path(const std::vector<std::string>& paths);

}  // namespace atb

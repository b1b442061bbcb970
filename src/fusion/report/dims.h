// The dimensions of a region: which axes of which values run together, and what each operator does along them.
#pragma once

#include <atb/explain.h>

#include <map>
#include <set>

namespace atb {

enum class AxisRole : uint8_t { kParallel, kReduce, kContract };

/// Dims of some nodes of a graph, by unification of the axes of their values.
class RegionDims {
 public:
  /// `bounds` are sizes of the symbols; an unknown one is bounded by "tokens".
  RegionDims(const Graph& graph, const std::vector<NodeId>& nodes, SymbolValues bounds);

  std::vector<RegionDim> dims() const;
  std::vector<std::string> names(ValueId value) const;  ///< one per axis, outermost first
  std::vector<std::string> along(NodeId node, AxisRole role) const;

 private:
  using Axis = std::pair<ValueId, int>;  ///< counted from the end: -1 is the last
  void unify(Axis a, Axis b);
  Axis root(Axis axis) const;
  bool has(Axis axis) const;
  const Dim& size(Axis axis) const;
  void role(NodeId node, Axis axis, AxisRole role);
  void read(NodeId id);
  void read_elementwise(NodeId id);
  void read_product(NodeId id);
  void read_scores(NodeId id);
  void read_values(NodeId id);
  void read_append(NodeId id);
  void read_embedding(NodeId id);
  void read_view(NodeId id);
  void name_dims(const std::vector<NodeId>& nodes);
  std::string unique(const std::string& wanted) const;

  const Graph& graph_;
  SymbolValues bounds_;
  mutable std::map<Axis, Axis> parent_;
  std::map<NodeId, std::vector<std::pair<Axis, AxisRole>>> roles_;
  std::vector<Axis> order_;  ///< one axis per dim
  std::map<Axis, std::string> name_;
};

}  // namespace atb

// A window of a graph, at most 64 nodes in execution order, as bit masks: what composing and choosing work on.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fusion/links.h"

namespace atb {

/// A set of nodes of a window; bit i is the i-th node.
using Mask = uint64_t;
inline constexpr int kMaxWindow = 64;
constexpr Mask bit(int i) { return Mask{1} << i; }

/// The indices of a mask, lowest first: for (int i : bits(mask)).
class bits {
 public:
  explicit bits(Mask mask) : mask_(mask) {}
  struct Iterator {
    Mask rest;
    int operator*() const { return __builtin_ctzll(rest); }
    Iterator& operator++() { return rest &= rest - 1, *this; }
    bool operator!=(const Iterator& other) const { return rest != other.rest; }
  };
  Iterator begin() const { return {mask_}; }
  static Iterator end() { return {0}; }

 private:
  Mask mask_;
};

/// A link inside the window.
struct LocalLink {
  const Link* link;
  int producer, consumer;
  Mask nodes;  ///< both and the views between
};

/// An edge into a node that is legal beside a link: the residual operand of an add.
struct OpenEdge {
  int producer;
  Mask link;  ///< in the region with this link
};

struct LocalNode {
  Mask inputs = 0, users = 0;           ///< direct neighbours, weights apart
  Mask ancestors = 0, descendants = 0;  ///< without the node itself
  Mask joined = 0;                      ///< inputs along links that are on
  std::vector<OpenEdge> open;
  Mask siblings = 0;     ///< linked readers of the same value, the node itself among them
  Mask strangers = 0;    ///< products of the same value that no link joins with this one
  bool outside = false;  ///< its result is read outside of the window, or an output of the graph
  bool yields = false;   ///< a rule lets its result leave a region that reads it, too
};

class LocalGraph {
 public:
  /// Nodes [begin, end), at most kMaxWindow.
  LocalGraph(const Facts& facts, std::span<const Link> links, NodeId begin, NodeId end);

  int size() const noexcept { return static_cast<int>(nodes_.size()); }
  const Facts& facts() const noexcept { return facts_; }
  const LocalNode& at(int i) const { return nodes_[static_cast<size_t>(i)]; }
  const Node& node(int i) const { return facts_.node(begin_ + i); }
  NodeId id(int i) const { return begin_ + i; }
  int index(NodeId id) const { return id - begin_; }
  const std::vector<LocalLink>& links() const noexcept { return links_; }  ///< those that are on
  std::vector<NodeId> ids(Mask mask) const;
  /// All links, on or off, and all that the choice of regions depends on: equal keys, equal choices.
  std::vector<int64_t> structure() const;

 private:
  bool inside(NodeId id) const { return id >= begin_ && id < begin_ + size(); }
  void connect();
  void add_link(const Link& link);
  void add_open_edges();
  void group_siblings();

  const Facts& facts_;
  NodeId begin_;
  std::vector<LocalNode> nodes_;
  std::vector<LocalLink> links_;
  std::vector<const Link*> all_;
};

}  // namespace atb

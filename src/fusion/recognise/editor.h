// What recognisers read and write: a graph under rewriting, with questions that patterns are made of. Each question
// answers "nothing" where the value is not of that form.
#pragma once

#include <atb/fusion.h>

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/rewrite.h"

namespace atb::recognising {

/// x and a number: what x*c, x/c or x+c are made of.
struct WithConstant {
  ValueId x;
  double c;
};

/// Whether a number is a literal, up to its rounding to fp32. A truncated or mistyped literal is none.
bool is_literal(double found, double literal) noexcept;

class Editor : public GraphRewriter {
 public:
  explicit Editor(const Graph& graph) : GraphRewriter(graph) {}

  /// The producer of `id` if it is that operator (of that kind), else nullptr.
  const Node* made_by(ValueId id, Op op) const;
  const Node* unary(ValueId id, UnaryKind kind) const;
  const Node* binary(ValueId id, BinaryKind kind) const;
  const Node* activation(ValueId id, ActivationKind kind) const;
  const Node* reduce(ValueId id, ReduceKind kind) const;  ///< along the last axis

  template <class A>
  const A& attrs(const Node& node) const {
    return std::get<A>(node.attrs);
  }

  std::optional<double> number(ValueId id) const;
  std::optional<WithConstant> scaled(ValueId id) const;   ///< x*c or x/c, as a factor
  std::optional<WithConstant> shifted(ValueId id) const;  ///< x+c
  /// The other factor or summand beside `one`.
  std::optional<ValueId> beside(ValueId id, Op op, ValueId one) const;

  /// A param or a number, possibly cast or shifted by one, in at most `steps` operators: what stays the same from run
  /// to run. The bound keeps a question about one residual add from walking down the whole stream.
  bool is_weight(ValueId id, int steps = 4) const;
  /// Read once, and no output.
  bool single_use(ValueId id) const { return users(id).size() == 1 && !is_output(id); }
  const Shape& shape(ValueId id) const { return value(id).shape; }
  DType dtype(ValueId id) const { return value(id).dtype; }
  size_t rank(ValueId id) const { return shape(id).size(); }

  /// Whether only `root` and the values themselves read `interior`: nothing else needs what is matched away. A reader
  /// outside is reported as a near miss of the clause "single_use".
  bool closed(ValueId root, std::span<const ValueId> interior);
  /// Notes why the pattern does not hold at `at`; returns false, so that recognisers can `return refuse(...)`.
  bool refuse(ValueId at, const char* clause, const std::string& detail);

  /// The name that near misses are reported under, and the list of this sweep.
  const char* recogniser = "";
  std::vector<NearMiss> near_misses;
};

/// The path of the nodes that compute `ids`, as far as they share one.
std::string shared_path(const Editor& g, std::span<const ValueId> ids);

}  // namespace atb::recognising

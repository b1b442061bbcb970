#include "cost/op_work.h"

#include <algorithm>

namespace atb {
namespace {

// A vector exponential is range reduction (3), a polynomial of degree 5 to 6 (6) and scaling (3); an error function is
// one of these and a little more; a division is an estimate and its refinement.
constexpr double kExp = 12, kErf = 16, kDiv = 4, kTanh = kExp + kDiv + 2;

struct ActivationOps {
  ActivationKind kind;
  double ops;
};
constexpr ActivationOps kActivations[] = {
    {ActivationKind::kGelu, kErf + 4},
    {ActivationKind::kGeluTanh, kTanh + 7},
    {ActivationKind::kGeluQuick, kTanh + 1},
    {ActivationKind::kSilu, kExp + kDiv + 2},
    {ActivationKind::kSigmoid, kExp + kDiv + 1},
    {ActivationKind::kTanh, kTanh},
    {ActivationKind::kRelu, 1},
};
struct UnaryOps {
  UnaryKind kind;
  double ops;
};
constexpr UnaryOps kUnaries[] = {{UnaryKind::kNeg, 1},      {UnaryKind::kSquare, 1},        {UnaryKind::kSqrt, kDiv},
                                 {UnaryKind::kRsqrt, kDiv}, {UnaryKind::kReciprocal, kDiv}, {UnaryKind::kExp, kExp},
                                 {UnaryKind::kErf, kErf}};

template <class Row, class Kind>
double row_ops(std::span<const Row> rows, Kind kind) {
  const auto row = std::find_if(rows.begin(), rows.end(), [kind](const Row& r) { return r.kind == kind; });
  return row == rows.end() ? 1 : row->ops;
}

double activation_ops(const Node& node) {
  return row_ops(std::span<const ActivationOps>(kActivations), std::get<ActivationAttrs>(node.attrs).kind);
}
double unary_ops(const Node& node) {
  return row_ops(std::span<const UnaryOps>(kUnaries), std::get<UnaryAttrs>(node.attrs).kind);
}
/// Scale, and what the attributes add: mask, causal or window comparison, ALiBi, soft-cap.
double scores_ops(const Node& node) {
  const auto& a = std::get<ScoresAttrs>(node.attrs);
  return 1 + (a.mask != MaskKind::kNone ? 1 : 0) + (a.causal ? 1 : 0) + (a.alibi ? 2 : 0) +
         (a.softcap > 0 ? kTanh + kDiv : 0);
}

/// Per element of the larger of first operand and result.
struct VectorOps {
  Op op;
  double ops;
  double (*of)(const Node&) = nullptr;  ///< where attributes decide
};
constexpr VectorOps kVectorOps[] = {
    {Op::kLayerNorm, 8},       // sum; difference, square, sum; difference, scale, weight, bias
    {Op::kRmsNorm, 4},         // square, sum; scale, weight
    {Op::kSoftmax, kExp + 4},  // maximum; difference, exponential, sum; scale
    {Op::kRope, 3},            // two products and a sum
    {Op::kReduce, 1},
    {Op::kActivation, 0, activation_ops},
    {Op::kUnary, 0, unary_ops},
    {Op::kScores, 0, scores_ops},
};

double vector_ops_per_element(const Node& node) {
  for (const VectorOps& row : kVectorOps)
    if (row.op == node.op) return row.of != nullptr ? row.of(node) : row.ops;
  return op_info(node.op).kind == OpKind::kPointwise ? 1 : 0;
}

/// Length of the contraction: features of x, a head's width, or the keys.
double contraction_length(const Graph& graph, const Node& node, const SymbolValues& symbols) {
  if (node.op == Op::kScores) return static_cast<double>(std::get<ScoresAttrs>(node.attrs).head_dim);
  const Shape& shape = graph.value(node.inputs[0]).shape;
  return shape.empty() ? 1 : dim_size(shape.back(), symbols);
}

}  // namespace

double dim_size(const Dim& dim, const SymbolValues& symbols) {
  const auto tokens = symbols.find("tokens");
  double size = static_cast<double>(dim.constant());
  for (const auto& [name, factor] : dim.terms()) {
    const auto found = symbols.find(name);
    size += static_cast<double>(factor) * static_cast<double>((found != symbols.end() ? found : tokens)->second);
  }
  return size;
}

double element_count(const Value& value, const SymbolValues& symbols) {
  double count = 1;
  for (const Dim& dim : value.shape) count *= dim_size(dim, symbols);
  return count;
}

OpWork op_work(const Graph& graph, const Node& node, const SymbolValues& symbols) {
  const Value& first = graph.value(node.inputs[0]);
  const Value& result = graph.value(node.output);
  OpWork work;
  work.vector_ops = vector_ops_per_element(node) * std::max(element_count(result, symbols),
                                                            node.op == Op::kScores ? 0 : element_count(first, symbols));
  if (op_info(node.op).kind != OpKind::kContract) return work;
  work.cube_ops = 2 * element_count(result, symbols) * contraction_length(graph, node, symbols);
  work.cube_dtype = graph.value(node.inputs[1]).dtype;
  return work;
}

}  // namespace atb

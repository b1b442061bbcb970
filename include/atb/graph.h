// The graph of a model: SSA values with dtype and symbolic shape, nodes with typed attributes. It prints to a readable
// text and parses back, so that tests and bug reports are text.
//
// Ownership: a Graph owns its nodes and values; ids are indices and stay valid until the graph is changed by a pass.
// Thread-safety: const functions may run concurrently; anything else needs outside locking.
#pragma once

#include <atb/dtype.h>
#include <atb/ops.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace atb {

using SymbolValues = std::map<std::string, int64_t, std::less<>>;

/// A dimension: a constant plus a sum of symbols with coefficients ("past+tokens"). Two dimensions are equal only if
/// they are the same expression: an unknown size is never equal to another unknown size.
class Dim {
 public:
  Dim(int64_t constant = 0) : constant_(constant) {}  // NOLINT: numbers are dimensions
  static Dim symbol(std::string name);                ///< [A-Za-z_][A-Za-z0-9_]*, else Error{kModel}

  bool is_constant() const noexcept { return terms_.empty(); }
  int64_t constant() const noexcept { return constant_; }                                        ///< the constant part
  const std::vector<std::pair<std::string, int64_t>>& terms() const noexcept { return terms_; }  ///< sorted by name
  int64_t evaluate(const SymbolValues& symbols) const;  ///< Error{kModel} for a symbol without a value
  std::string to_string() const;

  Dim operator+(const Dim& other) const;  ///< Error{kModel} beyond 64 bits, as below
  Dim operator*(int64_t factor) const;
  bool operator==(const Dim&) const = default;

 private:
  int64_t constant_ = 0;
  std::vector<std::pair<std::string, int64_t>> terms_;
};

using Shape = std::vector<Dim>;
std::string to_string(const Shape& shape);  ///< "[tokens, 576]"

using ValueId = int32_t;
using NodeId = int32_t;
inline constexpr ValueId kNoValue = -1;
inline constexpr NodeId kNoNode = -1;

enum class ValueKind : uint8_t {
  kInput,     ///< handed in at every run
  kParam,     ///< a weight, named as in the model
  kState,     ///< a tensor that lives between runs and grows along dim 0 (KV cache)
  kConstant,  ///< one number
  kResult     ///< computed by a node
};

struct Value {
  std::string name;  ///< unique in the graph, [A-Za-z0-9_.]+, printed as %name
  ValueKind kind;
  DType dtype;
  Shape shape;
  std::string tensor;         ///< kInput, kParam, kState: the outside name
  double constant = 0;        ///< kConstant
  NodeId producer = kNoNode;  ///< kResult
};

struct Node {
  Op op;
  Attrs attrs;
  std::vector<ValueId> inputs;
  ValueId output;
  std::string path;  ///< where it comes from: "layers.3.mlp.down"
};

class Graph {
 public:
  explicit Graph(std::string name = "graph") : name_(std::move(name)) {}

  /// Error{kModel} for a name that is taken, a negative size, or a block format whose last size is no multiple of its
  /// block (block formats are for params).
  ValueId input(std::string tensor, DType dtype, Shape shape);
  ValueId param(std::string tensor, DType dtype, Shape shape);  ///< the same name twice gives the same value
  ValueId state(std::string tensor, DType dtype, Shape shape);
  ValueId constant(double value, DType dtype = DType::kF32);
  /// Adds a node after all others. Infers dtype and shape of its result; Error{kModel} names the op, the path and the
  /// shapes if the inputs do not fit.
  ValueId add(Op op, Attrs attrs, std::vector<ValueId> inputs, std::string path = "", std::string name = "");
  void output(std::string name, ValueId value);

  const std::string& name() const noexcept { return name_; }
  const Value& value(ValueId id) const { return values_.at(static_cast<size_t>(id)); }
  const Node& node(NodeId id) const { return nodes_.at(static_cast<size_t>(id)); }
  std::span<const Value> values() const noexcept { return values_; }
  std::span<const Node> nodes() const noexcept { return nodes_; }  ///< in execution order
  const std::vector<std::pair<std::string, ValueId>>& outputs() const noexcept { return outputs_; }
  std::vector<std::vector<NodeId>> users() const;  ///< per value, the nodes that read it (once per use)
  bool is_output(ValueId id) const;
  std::optional<ValueId> find_value(std::string_view name) const;           ///< by its name in the text
  std::optional<ValueId> find_tensor(std::string_view outside_name) const;  ///< an input, param or state

  std::string to_text() const;
  /// Error{kModel} with line and column. parse(to_text()) is the same graph.
  static Graph parse(std::string_view text);
  /// Checks every invariant (operands defined before use, arity, attributes, inferred shapes, unique names, outputs).
  /// Error{kModel} names the first node that breaks one.
  void verify() const;

 private:
  friend struct GraphAccess;  // src/ir/graph_access.h: passes and the parser
  ValueId new_tensor(ValueKind kind, std::string tensor, DType dtype, Shape shape);
  ValueId new_value(Value value, std::string_view wanted_name);
  std::string unique_name(std::string_view wanted) const;

  std::string name_;
  std::vector<Value> values_;
  std::vector<Node> nodes_;
  std::vector<std::pair<std::string, ValueId>> outputs_;
  std::map<std::string, ValueId, std::less<>> by_name_;
  std::map<std::string, ValueId, std::less<>> by_tensor_;
};

// One function per semantic operator, for readable model files. kNoValue stands for an operand that is left out.
ValueId embedding(Graph& g, ValueId table, ValueId ids, std::string path);
ValueId matmul(Graph& g, ValueId x, ValueId w, std::string path, WeightLayout layout = WeightLayout::kOutIn);
ValueId add(Graph& g, ValueId a, ValueId b, std::string path);
ValueId mul(Graph& g, ValueId a, ValueId b, std::string path);
ValueId layer_norm(Graph& g, ValueId x, ValueId w, ValueId b, LayerNormAttrs attrs, std::string path);
ValueId rms_norm(Graph& g, ValueId x, ValueId w, RmsNormAttrs attrs, std::string path);
ValueId activation(Graph& g, ValueId x, ActivationKind kind, std::string path);
ValueId rope(Graph& g, ValueId x, ValueId positions, RopeAttrs attrs, std::string path,
             ValueId frequency_divisors = kNoValue);
ValueId kv_append(Graph& g, ValueId state, ValueId x, std::string path);
ValueId scores(Graph& g, ValueId q, ValueId k, ScoresAttrs attrs, std::string path, ValueId mask = kNoValue);
ValueId softmax(Graph& g, ValueId x, std::string path);
ValueId values(Graph& g, ValueId p, ValueId v, ValuesAttrs attrs, std::string path);
ValueId cast(Graph& g, ValueId x, DType dtype, std::string path);
ValueId take_rows(Graph& g, ValueId x, ValueId indices, std::string path);

}  // namespace atb

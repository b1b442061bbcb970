// The pattern language of the rules: two operators and how they are joined.
//
//   add(any("x"), any("r")) >> (layer_norm(_, weight("gamma"), weight("beta")) | rms_norm(_, weight("gamma")))
//
// `_` is the operand that the producer's result flows into. Operands of add and mul may come in either order. There is
// no implicit wildcard: each attribute of an operator is literal (`is`, `is_not`), carried over as it stands (`bound`),
// or expressly irrelevant (`free`); a test checks that every pattern names them all.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fusion/facts.h"

namespace atb::rules {

/// What may stand at an operand's place.
enum class OperandKind : uint8_t {
  kFlow,      ///< the producer's result
  kAny,       ///< any value
  kStream,    ///< an activation: computed or handed in; may also be a value of the same region
  kWeight,    ///< a param, or computed from params alone
  kNumber,    ///< a constant
  kEmbedding  ///< a row of an embedding table, a weight, or a sum of these
};

struct Operand {
  const char* name;
  OperandKind kind;
};

inline constexpr Operand _{"", OperandKind::kFlow};
constexpr Operand any(const char* name) { return {name, OperandKind::kAny}; }
constexpr Operand stream(const char* name) { return {name, OperandKind::kStream}; }
constexpr Operand weight(const char* name) { return {name, OperandKind::kWeight}; }
constexpr Operand embedded(const char* name) { return {name, OperandKind::kEmbedding}; }
constexpr Operand number(const char* name) { return {name, OperandKind::kNumber}; }

enum class AttrKind : uint8_t { kFree, kBound, kLiteral, kOther /* any but the literal */ };
struct AttrPattern {
  std::string name;
  AttrKind kind;
  std::string literal = {};  ///< as in a graph's text
};
inline AttrPattern free(const char* name) { return {name, AttrKind::kFree}; }
inline AttrPattern bound(const char* name) { return {name, AttrKind::kBound}; }
inline AttrPattern is_not(const char* name, const char* text) { return {name, AttrKind::kOther, text}; }
inline AttrPattern is(const char* name, const char* text) { return {name, AttrKind::kLiteral, text}; }

/// One operator with its operands. Operands beyond those of a node are optional: layer_norm's beta.
struct OpPattern {
  Op op;
  std::vector<Operand> operands;
  std::vector<AttrPattern> attrs;
  OpPattern with(std::vector<AttrPattern> more) const;
};

/// One of several operators.
struct NodePattern {
  std::vector<OpPattern> alternatives;
  NodePattern(OpPattern one) : alternatives{std::move(one)} {}  // NOLINT: one operator is a choice of one
};
NodePattern operator|(NodePattern a, const NodePattern& b);

/// Two operators: a producer and the consumer of its result, or two consumers of one value.
struct LinkPattern {
  NodePattern producer, consumer;
  bool siblings = false;
};
LinkPattern operator>>(NodePattern producer, NodePattern consumer);
/// Both read the same value at `_`.
LinkPattern siblings(NodePattern one);

// The operators, with the attributes that most rules carry over as they stand; `with` overrides.
OpPattern embedding(Operand table, Operand ids);
OpPattern matmul(Operand x, Operand w);
OpPattern add(Operand a, Operand b);
OpPattern mul(Operand a, Operand b);
OpPattern layer_norm(Operand x, Operand gamma, Operand beta);
OpPattern rms_norm(Operand x, Operand gamma);
NodePattern norm(Operand x, Operand gamma, Operand beta);  ///< layer_norm | rms_norm
OpPattern activation(Operand x);
OpPattern cast(Operand x);
OpPattern rope(Operand x, Operand positions, Operand divisors);
OpPattern kv_append(Operand state, Operand x);
OpPattern scores(Operand q, Operand k, Operand mask);
OpPattern softmax(Operand x);
OpPattern values(Operand p, Operand v);
OpPattern transpose(Operand x);
OpPattern quantize(Operand x);

/// Where an operand of a pattern is found in a node.
struct Binding {
  Operand operand;
  ValueId value;
};

/// The bindings of `node` to the first alternative that fits with the flow at input `flow` (-1: the pattern has none),
/// or an empty list. An operator without bindings does not exist, so empty means "no match".
std::vector<Binding> match(const NodePattern& pattern, const Facts& facts, const Node& node, int flow);

/// "add(x, r) >> layer_norm(_, gamma, beta) | rms_norm(_, gamma)".
std::string to_string(const LinkPattern& pattern);

}  // namespace atb::rules

#include "fusion/pattern.h"

#include <algorithm>

#include "base/text.h"
#include "ir/attr_fields.h"

namespace atb::rules {
namespace {

bool is_commutative(Op op) noexcept { return op == Op::kAdd || op == Op::kMul; }

bool fits(const Operand& operand, const Facts& facts, ValueId value, bool flows) {
  switch (operand.kind) {
    case OperandKind::kFlow:
      return flows;
    case OperandKind::kAny:
      return !flows;
    case OperandKind::kStream:
      return !flows && facts.is_activation(value);
    case OperandKind::kWeight:
      return !flows && facts.is_weight(value);
    case OperandKind::kNumber:
      return !flows && facts.value(value).kind == ValueKind::kConstant;
    case OperandKind::kEmbedding:
      return !flows && (facts.is_embedding(value) || facts.is_weight(value));
  }
  return false;
}

// Operands in their order, or swapped.
std::vector<Binding> bind(const OpPattern& pattern, const Facts& facts, const Node& node, int flow, bool swapped) {
  std::vector<Binding> bindings;
  const size_t count = node.inputs.size();
  if (count > pattern.operands.size()) return {};
  for (size_t i = 0; i < count; ++i) {
    const size_t place = swapped ? count - 1 - i : i;
    const ValueId value = node.inputs[place];
    if (!fits(pattern.operands[i], facts, value, static_cast<int>(place) == flow)) return {};
    bindings.push_back({pattern.operands[i], value});
  }
  return bindings;
}

bool is_condition(const AttrPattern& attr) { return attr.kind == AttrKind::kLiteral || attr.kind == AttrKind::kOther; }

bool holds(const AttrPattern& wanted, const AttrField& field) {
  if (!is_condition(wanted) || wanted.name != field.name) return true;
  return (wanted.literal == field_text(field)) == (wanted.kind == AttrKind::kLiteral);
}

bool attrs_fit(const OpPattern& pattern, const Attrs& attrs) {
  const std::vector<AttrPattern>& wanted = pattern.attrs;
  if (std::none_of(wanted.begin(), wanted.end(), is_condition)) return true;
  Attrs copy = attrs;
  const std::vector<AttrField> fields = attr_fields(copy);
  return std::all_of(fields.begin(), fields.end(), [&](const AttrField& field) {
    return std::all_of(wanted.begin(), wanted.end(), [&](const AttrPattern& one) { return holds(one, field); });
  });
}

std::vector<AttrPattern> all_bound(Op op) {
  Attrs attrs = default_attrs(op);
  std::vector<AttrPattern> patterns;
  for (const AttrField& field : attr_fields(attrs)) patterns.push_back(bound(field.name));
  return patterns;
}

OpPattern make(Op op, std::vector<Operand> operands) { return {op, std::move(operands), all_bound(op)}; }

std::string to_string(const OpPattern& pattern) {
  std::vector<std::string> parts;
  for (const Operand& operand : pattern.operands)
    parts.emplace_back(operand.kind == OperandKind::kFlow ? "_" : operand.name);
  for (const AttrPattern& attr : pattern.attrs)
    if (is_condition(attr))
      parts.push_back(attr.name + (attr.kind == AttrKind::kLiteral ? " = " : " != ") + attr.literal);
  return std::string(op_info(pattern.op).name) + "(" + join(parts, ", ") + ")";
}

std::string to_string(const NodePattern& pattern) {
  std::vector<std::string> parts;
  for (const OpPattern& one : pattern.alternatives) parts.push_back(to_string(one));
  return join(parts, " | ");
}

}  // namespace

OpPattern OpPattern::with(std::vector<AttrPattern> more) const {
  OpPattern copy = *this;
  for (AttrPattern& attr : more) {
    std::erase_if(copy.attrs, [&](const AttrPattern& a) { return a.name == attr.name; });
    copy.attrs.push_back(std::move(attr));
  }
  return copy;
}

NodePattern operator|(NodePattern a, const NodePattern& b) {
  a.alternatives.insert(a.alternatives.end(), b.alternatives.begin(), b.alternatives.end());
  return a;
}

LinkPattern operator>>(NodePattern producer, NodePattern consumer) {
  return {std::move(producer), std::move(consumer), false};
}

LinkPattern siblings(NodePattern one) { return {one, one, true}; }

OpPattern embedding(Operand table, Operand ids) { return make(Op::kEmbedding, {table, ids}); }
OpPattern matmul(Operand x, Operand w) { return make(Op::kMatMul, {x, w}); }
OpPattern add(Operand a, Operand b) { return make(Op::kAdd, {a, b}); }
OpPattern mul(Operand a, Operand b) { return make(Op::kMul, {a, b}); }
OpPattern layer_norm(Operand x, Operand gamma, Operand beta) { return make(Op::kLayerNorm, {x, gamma, beta}); }
OpPattern rms_norm(Operand x, Operand gamma) { return make(Op::kRmsNorm, {x, gamma}); }
NodePattern norm(Operand x, Operand gamma, Operand beta) {
  return NodePattern(layer_norm(x, gamma, beta)) | rms_norm(x, gamma);
}
OpPattern activation(Operand x) { return make(Op::kActivation, {x}); }
OpPattern cast(Operand x) { return make(Op::kCast, {x}); }
OpPattern rope(Operand x, Operand positions, Operand divisors) { return make(Op::kRope, {x, positions, divisors}); }
OpPattern kv_append(Operand state, Operand x) { return make(Op::kKvAppend, {state, x}); }
OpPattern scores(Operand q, Operand k, Operand mask) { return make(Op::kScores, {q, k, mask}); }
OpPattern softmax(Operand x) { return make(Op::kSoftmax, {x}); }
OpPattern values(Operand p, Operand v) { return make(Op::kValues, {p, v}); }
OpPattern transpose(Operand x) { return make(Op::kTranspose, {x}); }
OpPattern quantize(Operand x) { return make(Op::kQuantize, {x}); }

std::vector<Binding> match(const NodePattern& pattern, const Facts& facts, const Node& node, int flow) {
  for (const OpPattern& one : pattern.alternatives) {
    if (one.op != node.op || !attrs_fit(one, node.attrs)) continue;
    std::vector<Binding> bindings = bind(one, facts, node, flow, false);
    if (bindings.empty() && is_commutative(one.op)) bindings = bind(one, facts, node, flow, true);
    if (!bindings.empty()) return bindings;
  }
  return {};
}

std::string to_string(const LinkPattern& pattern) {
  if (pattern.siblings) return "siblings: " + to_string(pattern.producer);
  return to_string(pattern.producer) + " >> " + to_string(pattern.consumer);
}

}  // namespace atb::rules

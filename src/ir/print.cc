#include <atb/graph.h>

#include "ir/attr_fields.h"
#include "ir/names.h"

namespace atb {
namespace {

std::string type_text(const Value& value) { return dtype_name(value.dtype) + to_string(value.shape); }

std::string call_text(const Graph& graph, const Node& node) {
  std::string text = std::string(op_info(node.op).name) + "(";
  for (size_t i = 0; i < node.inputs.size(); ++i) text += (i ? ", %" : "%") + graph.value(node.inputs[i]).name;
  text += ")";
  const std::string attrs = attrs_text(node.op, node.attrs);
  return attrs.empty() ? text : text + " {" + attrs + "}";
}

// What stands behind "%name = ".
std::string definition_text(const Graph& graph, const Value& value) {
  switch (value.kind) {
    case ValueKind::kInput:
      return "input " + quoted(value.tensor);
    case ValueKind::kParam:
      return "param " + quoted(value.tensor);
    case ValueKind::kState:
      return "state " + quoted(value.tensor);
    case ValueKind::kConstant:
      return "constant " + number_text(value.constant);
    case ValueKind::kResult:
      break;
  }
  return call_text(graph, graph.node(value.producer));
}

}  // namespace

std::string Graph::to_text() const {
  std::string text = "graph " + quoted(name_) + " {\n";
  for (const Value& value : values_) {
    text += "  %" + value.name + " = " + definition_text(*this, value) + " : " + type_text(value);
    const bool has_path = value.kind == ValueKind::kResult && !node(value.producer).path.empty();
    text += has_path ? " @ " + quoted(node(value.producer).path) + "\n" : "\n";
  }
  for (const auto& [name, id] : outputs_) text += "  output " + quoted(name) + " %" + value(id).name + "\n";
  return text + "}\n";
}

}  // namespace atb

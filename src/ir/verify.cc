#include <atb/error.h>
#include <atb/graph.h>

#include <set>

#include "ir/infer.h"
#include "ir/names.h"
#include "ir/value_rules.h"

namespace atb {
namespace {

class Verifier {
 public:
  explicit Verifier(const Graph& graph) : graph_(graph) {}

  void run() {
    for (size_t i = 0; i < graph_.values().size(); ++i) check_value(static_cast<ValueId>(i));
    for (size_t i = 0; i < graph_.nodes().size(); ++i) check_node(static_cast<NodeId>(i));
    check_outputs();
  }

 private:
  [[noreturn]] static void broken(const std::string& what, const std::string& where) {
    throw Error(ErrorCode::kModel, "invalid graph: " + what, where);
  }

  bool is_value(ValueId id) const { return id >= 0 && static_cast<size_t>(id) < graph_.values().size(); }

  void check_value(ValueId id) {
    const Value& value = graph_.value(id);
    const std::string where = "%" + value.name;
    if (!is_value_name(value.name)) broken("the name of a value is malformed", where);
    if (graph_.find_value(value.name) != id) broken("two values have the same name", where);
    if (value.kind == ValueKind::kResult) {
      check_producer(id);
    } else if (value.producer != kNoNode) {
      broken("a value that no node computes has a producer", where);
    } else {
      check_outside(id);
    }
  }

  void check_producer(ValueId id) {
    const NodeId producer = graph_.value(id).producer;
    const bool exists = producer >= 0 && static_cast<size_t>(producer) < graph_.nodes().size();
    if (!exists || graph_.node(producer).output != id)
      broken("the value is not the result of its producer", "%" + graph_.value(id).name);
  }

  void check_outside(ValueId id) {
    const Value& value = graph_.value(id);
    check_tensor(value);
    if (value.kind == ValueKind::kConstant) {
      if (!value.shape.empty()) broken("a constant is not one number", "%" + value.name);
    } else if (graph_.find_tensor(value.tensor) != id) {
      broken("two inputs, params or states have the same outside name", "%" + value.name);
    }
  }

  void check_node(NodeId id) {
    const Node& node = graph_.node(id);
    if (!is_value(node.output) || graph_.value(node.output).producer != id)
      broken("node " + std::to_string(id) + " has no result of its own", node.path);
    const Value& output = graph_.value(node.output);
    const std::string where = "%" + output.name + (node.path.empty() ? "" : ", " + node.path);
    if (node.output <= last_output_) broken("nodes are not in the order of their results", where);
    last_output_ = node.output;
    std::vector<const Value*> operands;
    for (const ValueId input : node.inputs) {
      if (!is_value(input) || input >= node.output) broken("an operand is not defined before its use", where);
      operands.push_back(&graph_.value(input));
    }
    check_inference(node, operands, where);
    if (node.op == Op::kKvAppend && !appended_.insert(node.inputs[0]).second)
      broken("a state is appended to twice", where);
  }

  void check_inference(const Node& node, std::span<const Value* const> operands, const std::string& where) {
    const Value& output = graph_.value(node.output);
    Inferred expected;
    try {
      expected = infer(node.op, node.attrs, operands);
    } catch (const Error& e) {
      broken(std::string(op_info(node.op).name) + ": " + e.message(), where);
    }
    if (expected.dtype != output.dtype || expected.shape != output.shape) {
      broken("the result is recorded as " + describe(output) + ", but is " + dtype_name(expected.dtype) +
                 to_string(expected.shape),
             where);
    }
  }

  void check_outputs() {
    std::set<std::string_view> names;
    for (const auto& [name, id] : graph_.outputs()) {
      if (!is_value(id)) broken("an output is no value of the graph", name);
      if (!names.insert(name).second) broken("two outputs have the same name", name);
    }
  }

  const Graph& graph_;
  ValueId last_output_ = kNoValue;
  std::set<ValueId> appended_;
};

}  // namespace

void Graph::verify() const { Verifier(*this).run(); }

}  // namespace atb

#include <atb/error.h>
#include <atb/graph.h>

#include <algorithm>

#include "base/check.h"
#include "ir/graph_access.h"
#include "ir/infer.h"
#include "ir/names.h"
#include "ir/value_rules.h"

namespace atb {
namespace {

std::optional<ValueId> find(const std::map<std::string, ValueId, std::less<>>& map, std::string_view key) {
  const auto found = map.find(key);
  return found == map.end() ? std::nullopt : std::optional(found->second);
}

// The error of an operator, with the operator in its message and the place in the model.
[[noreturn]] void rethrow_at(const Error& e, Op op, const std::string& path) {
  throw Error(e.code(), std::string(op_info(op).name) + ": " + e.message(), path, e.hint());
}

}  // namespace

ValueId Graph::new_value(Value value, std::string_view wanted_name) {
  const auto id = static_cast<ValueId>(values_.size());
  value.name = unique_name(wanted_name);
  by_name_.emplace(value.name, id);
  values_.push_back(std::move(value));
  return id;
}

// The wanted name with other characters as '_'; the number of the value is added where it is taken.
std::string Graph::unique_name(std::string_view wanted) const {
  std::string base(wanted.empty() ? "v" : wanted);
  std::replace_if(
      base.begin(), base.end(), [](char c) { return !is_value_char(c); }, '_');
  std::string name = base;
  for (size_t suffix = values_.size(); by_name_.contains(name); ++suffix) name = base + "_" + std::to_string(suffix);
  return name;
}

ValueId Graph::new_tensor(ValueKind kind, std::string tensor, DType dtype, Shape shape) {
  if (const auto taken = find_tensor(tensor)) {
    const Value& other = value(*taken);
    if (kind == ValueKind::kParam && other.kind == kind && other.dtype == dtype && other.shape == shape) return *taken;
    throw Error(ErrorCode::kModel, "the name is taken by " + describe(other), tensor,
                "inputs, params and states need different names");
  }
  const auto id = static_cast<ValueId>(values_.size());
  Value created{{}, kind, dtype, std::move(shape), tensor, 0, kNoNode};
  check_tensor(created);
  new_value(std::move(created), tensor);
  by_tensor_.emplace(std::move(tensor), id);
  return id;
}

ValueId Graph::input(std::string tensor, DType dtype, Shape shape) {
  return new_tensor(ValueKind::kInput, std::move(tensor), dtype, std::move(shape));
}

ValueId Graph::param(std::string tensor, DType dtype, Shape shape) {
  return new_tensor(ValueKind::kParam, std::move(tensor), dtype, std::move(shape));
}

ValueId Graph::state(std::string tensor, DType dtype, Shape shape) {
  return new_tensor(ValueKind::kState, std::move(tensor), dtype, std::move(shape));
}

ValueId Graph::constant(double value, DType dtype) {
  Value created{{}, ValueKind::kConstant, dtype, {}, {}, value, kNoNode};
  check_tensor(created);
  return new_value(std::move(created), "c");
}

ValueId Graph::add(Op op, Attrs attrs, std::vector<ValueId> inputs, std::string path, std::string name) {
  std::vector<const Value*> operands;
  for (const ValueId id : inputs) {
    ATB_CHECK(id >= 0 && static_cast<size_t>(id) < values_.size());
    operands.push_back(&value(id));
  }
  Inferred result;
  try {
    result = infer(op, attrs, operands);
  } catch (const Error& e) {
    rethrow_at(e, op, path);
  }
  if (name.empty()) name = path.empty() ? op_info(op).name : path;
  const auto node = static_cast<NodeId>(nodes_.size());
  const ValueId output = new_value({{}, ValueKind::kResult, result.dtype, std::move(result.shape), {}, 0, node}, name);
  nodes_.push_back({op, std::move(attrs), std::move(inputs), output, std::move(path)});
  return output;
}

void Graph::output(std::string name, ValueId value) {
  ATB_CHECK(value >= 0 && static_cast<size_t>(value) < values_.size());
  const auto same = [&name](const auto& output) { return output.first == name; };
  if (std::any_of(outputs_.begin(), outputs_.end(), same))
    throw Error(ErrorCode::kModel, "two outputs of the graph have the same name", name);
  outputs_.emplace_back(std::move(name), value);
}

std::vector<std::vector<NodeId>> Graph::users() const {
  std::vector<std::vector<NodeId>> users(values_.size());
  for (size_t n = 0; n < nodes_.size(); ++n)
    for (const ValueId id : nodes_[n].inputs) users[static_cast<size_t>(id)].push_back(static_cast<NodeId>(n));
  return users;
}

bool Graph::is_output(ValueId id) const {
  return std::any_of(outputs_.begin(), outputs_.end(), [id](const auto& output) { return output.second == id; });
}

std::optional<ValueId> Graph::find_value(std::string_view name) const { return find(by_name_, name); }

std::optional<ValueId> Graph::find_tensor(std::string_view outside_name) const {
  return find(by_tensor_, outside_name);
}

void GraphAccess::rename(Graph& g, ValueId id, std::string name) {
  Value& value = g.values_.at(static_cast<size_t>(id));
  if (name == value.name) return;
  if (!is_value_name(name)) throw Error(ErrorCode::kModel, "'" + name + "' is no name for a value", "%" + value.name);
  if (g.by_name_.contains(name)) throw Error(ErrorCode::kModel, "%" + name + " is defined twice");
  g.by_name_.erase(value.name);
  g.by_name_.emplace(name, id);
  value.name = std::move(name);
}

}  // namespace atb

#include "ir/rewrite.h"

#include <atb/error.h>

#include <algorithm>

#include "base/check.h"
#include "ir/graph_access.h"
#include "ir/infer.h"

namespace atb {
namespace {

// A node that is kept whether or not its result is read.
bool has_effect(const Node& node) { return op_info(node.op).kind == OpKind::kState; }

// The last place of `user` in a list of users goes.
void remove_one(std::vector<ValueId>& users, ValueId user) {
  const auto found = std::find(users.begin(), users.end(), user);
  ATB_CHECK(found != users.end());
  users.erase(found);
}

}  // namespace

GraphRewriter::GraphRewriter(const Graph& graph)
    : name_(graph.name()),
      values_(graph.values().begin(), graph.values().end()),
      nodes_(graph.nodes().begin(), graph.nodes().end()),
      outputs_(graph.outputs()),
      users_(values_.size()),
      output_uses_(values_.size(), 0),
      replaced_by_(values_.size(), kNoValue),
      sources_(values_.size()),
      original_end_(static_cast<ValueId>(values_.size())) {
  for (size_t n = 0; n < nodes_.size(); ++n) {
    sources_[static_cast<size_t>(nodes_[n].output)] = {static_cast<NodeId>(n)};
    for (const ValueId input : nodes_[n].inputs) users_[static_cast<size_t>(input)].push_back(nodes_[n].output);
  }
  for (const auto& [name, id] : outputs_) ++output_uses_[static_cast<size_t>(id)];
  std::set<NodeId> nobody;
  for (ValueId id = end(); id-- > 0;) drop_if_dead(id, nobody);
}

const Node* GraphRewriter::producer(ValueId id) const {
  const Value& v = value(id);
  return v.producer == kNoNode ? nullptr : &nodes_[static_cast<size_t>(v.producer)];
}

bool GraphRewriter::is_live(ValueId id) const {
  const Node* node = producer(id);
  return !users(id).empty() || is_output(id) || (node && has_effect(*node));
}

ValueId GraphRewriter::new_value(Value value) {
  const ValueId id = end();
  values_.push_back(std::move(value));
  users_.emplace_back();
  output_uses_.push_back(0);
  replaced_by_.push_back(kNoValue);
  sources_.emplace_back();
  return id;
}

ValueId GraphRewriter::constant(double value, DType dtype) {
  return new_value({{}, ValueKind::kConstant, dtype, {}, {}, value, kNoNode});
}

ValueId GraphRewriter::find_equal(Op op, const Attrs& attrs, const std::vector<ValueId>& inputs) const {
  for (const ValueId user : users(inputs.front())) {
    const Node& node = *producer(user);
    if (node.op == op && node.inputs == inputs && node.attrs == attrs && !has_effect(node)) return user;
  }
  return kNoValue;
}

ValueId GraphRewriter::add(Op op, Attrs attrs, std::vector<ValueId> inputs, std::string path) {
  ATB_CHECK(!inputs.empty());
  if (const ValueId equal = find_equal(op, attrs, inputs); equal != kNoValue) return equal;
  std::vector<const Value*> operands;
  for (const ValueId id : inputs) operands.push_back(&value(id));
  Inferred result;
  try {
    result = infer(op, attrs, operands);
  } catch (const Error& e) {
    throw Error(e.code(), std::string(op_info(op).name) + ": " + e.message(), path, e.hint());
  }
  const auto node = static_cast<NodeId>(nodes_.size());
  const ValueId output = new_value({{}, ValueKind::kResult, result.dtype, std::move(result.shape), {}, 0, node});
  for (const ValueId input : inputs) users_[static_cast<size_t>(input)].push_back(output);
  nodes_.push_back({op, std::move(attrs), std::move(inputs), output, std::move(path)});
  return output;
}

void GraphRewriter::redirect(ValueId user, ValueId from, ValueId to) {
  Node& node = nodes_[static_cast<size_t>(value(user).producer)];
  const auto input = std::find(node.inputs.begin(), node.inputs.end(), from);
  ATB_CHECK(input != node.inputs.end());
  *input = to;
  users_[static_cast<size_t>(to)].push_back(user);
}

void GraphRewriter::replace(ValueId from, ValueId to) {
  ATB_CHECK(from != to && value(from).dtype == value(to).dtype && value(from).shape == value(to).shape);
  const size_t f = static_cast<size_t>(from), t = static_cast<size_t>(to);
  // `to` may itself read `from` (a view put behind it): that use stays.
  std::vector<ValueId> kept;
  for (const ValueId user : std::exchange(users_[f], {})) {
    if (user == to) {
      kept.push_back(user);
    } else {
      redirect(user, from, to);
    }
  }
  users_[f] = std::move(kept);
  for (auto& output : outputs_)
    if (output.second == from) output.second = to;
  output_uses_[t] += std::exchange(output_uses_[f], 0);
  if (!users_[f].empty()) return;
  replaced_by_[f] = to;
  std::set<NodeId> sources;
  drop_if_dead(from, sources);
  sources_[t].insert(sources.begin(), sources.end());
  hand_over(sources, to);
}

void GraphRewriter::hand_over(const std::set<NodeId>& sources, ValueId to) {
  const Node* node = producer(to);
  if (!node || to < original_end_) return;
  for (const ValueId input : node->inputs) {
    if (input < original_end_ || !sources_[static_cast<size_t>(input)].empty()) continue;
    sources_[static_cast<size_t>(input)] = sources;
    hand_over(sources, input);
  }
}

void GraphRewriter::drop_if_dead(ValueId id, std::set<NodeId>& sources) {
  const Node* node = producer(id);
  if (!node || is_live(id)) return;
  sources.insert(sources_[static_cast<size_t>(id)].begin(), sources_[static_cast<size_t>(id)].end());
  for (const ValueId input : node->inputs) {
    remove_one(users_[static_cast<size_t>(input)], id);
    drop_if_dead(input, sources);
  }
  nodes_[static_cast<size_t>(value(id).producer)].inputs.clear();
}

// Writes the live part down: everything at its old place, new values where what they replace stood or just before
// their first reader.
class GraphWriter {
 public:
  explicit GraphWriter(const GraphRewriter& from)
      : from_(from), result_{Graph(from.name_), {}}, written_(static_cast<size_t>(from.end()), kNoValue) {
    for (ValueId id = 0; id < from_.original_end_; ++id)
      if (stays(id)) names_.insert(from_.value(id).name);
  }

  GraphRewriter::Result run() {
    for (ValueId id = 0; id < from_.original_end_; ++id) write_place(id);
    for (const auto& [name, id] : from_.outputs_) result_.graph.output(name, write(id));
    result_.graph.verify();
    return std::move(result_);
  }

 private:
  // Whether a value is written: what comes from outside always, the rest if it is read.
  bool stays(ValueId id) const {
    const ValueKind kind = from_.value(id).kind;
    return from_.is_live(id) || (kind != ValueKind::kResult && kind != ValueKind::kConstant);
  }

  // The value that stands today where the original had `id`. An older value that stands for it has its own place.
  void write_place(ValueId id) {
    ValueId now = id;
    while (from_.replaced_by_[static_cast<size_t>(now)] != kNoValue) now = from_.replaced_by_[static_cast<size_t>(now)];
    if (stays(now) && (now == id || now >= from_.original_end_)) write(now);
  }

  ValueId write(ValueId id) {
    const size_t at = static_cast<size_t>(id);
    if (written_[at] == kNoValue) {
      written_[at] = write_new(id);
      GraphAccess::rename(result_.graph, written_[at], name_of(id));
    }
    return written_[at];
  }

  ValueId write_new(ValueId id) {
    const Value& v = from_.value(id);
    switch (v.kind) {
      case ValueKind::kInput:
        return result_.graph.input(v.tensor, v.dtype, v.shape);
      case ValueKind::kParam:
        return result_.graph.param(v.tensor, v.dtype, v.shape);
      case ValueKind::kState:
        return result_.graph.state(v.tensor, v.dtype, v.shape);
      case ValueKind::kConstant:
        return result_.graph.constant(v.constant, v.dtype);
      case ValueKind::kResult:
        break;
    }
    return write_node(*from_.producer(id), id);
  }

  ValueId write_node(const Node& node, ValueId id) {
    std::vector<ValueId> inputs;
    for (const ValueId input : node.inputs) inputs.push_back(write(input));
    result_.sources.push_back(from_.sources(id));
    return result_.graph.add(node.op, node.attrs, std::move(inputs), node.path);
  }

  // A value of the original keeps its name; a new one is named by its path, away from all names of the original.
  std::string name_of(ValueId id) const {
    if (id < from_.original_end_) return from_.value(id).name;
    const std::string& own = result_.graph.value(written_[static_cast<size_t>(id)]).name;
    std::string name = own;
    for (int i = 1; names_.contains(name) || (name != own && result_.graph.find_value(name)); ++i)
      name = own + "." + std::to_string(i);
    return name;
  }

  const GraphRewriter& from_;
  GraphRewriter::Result result_;
  std::vector<ValueId> written_;
  std::set<std::string, std::less<>> names_;
};

GraphRewriter::Result GraphRewriter::finish() const { return GraphWriter(*this).run(); }

std::string common_path(const std::vector<std::string>& paths) {
  if (paths.empty()) return "";
  std::string common = paths.front();
  for (const std::string& path : paths) {
    while (path != common && !path.starts_with(common + ".")) {
      const size_t dot = common.rfind('.');
      if (dot == common.npos) return "";
      common.resize(dot);
    }
  }
  return common;
}

}  // namespace atb

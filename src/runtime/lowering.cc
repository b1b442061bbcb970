#include "runtime/lowering.h"

#include <atb/error.h>

#include <algorithm>
#include <array>
#include <tuple>

#include "base/check.h"
#include "runtime/precision.h"

namespace atb {
namespace {

struct LowerEntry {
  Op op;
  LowerFn lower;
};
constexpr LowerEntry kLowerings[] = {
#define ATB_STEP(op, function) {Op::k##op, function},
#include "runtime/steps/steps.inc"
#undef ATB_STEP
};

constexpr std::array<const char*, kGraphInputCount> kInputNames = {"tokens", "positions", "logit_rows"};

std::string text_of(const std::vector<int64_t>& shape) {
  std::string text = "[";
  for (int64_t n : shape) text += (text.size() > 1 ? ", " : "") + std::to_string(n);
  return text + "]";
}

bool same_shape(const std::vector<int64_t>& found, const Shape& wanted) {
  return std::equal(found.begin(), found.end(), wanted.begin(), wanted.end(),
                    [](int64_t n, const Dim& d) { return d == Dim(n); });
}

/// Most CPUs have private caches of at least twice this.
constexpr int64_t kDefaultSlabBytes = int64_t{512} << 10;

int64_t slab_bytes(const Region* region) {
  if (region == nullptr) return 0;
  return region->capacity_available > 0 ? region->capacity_available : kDefaultSlabBytes;
}

/// Their names, each once, in the order of the steps.
std::string kernels_of(std::span<const BoundStep> steps) {
  std::vector<std::string> names;
  for (const BoundStep& s : steps)
    if (std::find(names.begin(), names.end(), s.step->kernel()) == names.end()) names.push_back(s.step->kernel());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : " + ") + name;
  return text;
}

}  // namespace

Lowering::Lowering(Plan::Impl& plan, const TensorLookup& tensors)
    : plan_(plan), tensors_(tensors), round_trips_(plan.graph) {}

void Lowering::fail(std::string message, std::string hint) const {
  std::string where = "graph";
  if (node_ != kNoNode) {
    const Node& node = graph().node(node_);
    where = std::string(op_info(node.op).name) + " " + (node.path.empty() ? value(node.output).name : node.path);
  }
  throw Error(ErrorCode::kModel, std::move(message), std::move(where), std::move(hint));
}

void Lowering::run(const std::vector<Region>& regions) {
  for (const Launch& launch : order_launches(graph(), regions)) {
    const size_t first_step = plan_.steps.size();
    for (NodeId id : launch.nodes) lower(id);
    finish_launch(launch, first_step);
  }
  node_ = kNoNode;
  lower_logits();
  describe_weights();
}

/// The caller reads the logits as one dense matrix of its own.
void Lowering::lower_logits() {
  RowsRef logits;
  for (const auto& [name, id] : graph().outputs())
    if (name == "logits") logits = rows(id);
  if (logits.buffer == kNoBuffer) fail("the graph computes no output 'logits'", "name one of its results so");
  if (logits.stride != logits.width) {
    const TensorRef strided{logits.buffer,
                            nullptr,
                            logits.offset,
                            {logits.rows, Extent::fixed(logits.width)},
                            {Extent::fixed(logits.stride), Extent::fixed(1)}};
    const TensorRef dense = new_tensor(strided.shape);
    emit_copy(*this, strided, dense);
    logits = rows(dense);
  }
  plan_.logits = logits;
  Buffer& buffer = plan_.buffers[static_cast<size_t>(logits.buffer)];
  buffer.shared = true;
  buffer.last = static_cast<int>(plan_.steps.size());
}

void Lowering::count_weight(const MatMulKernel& kernel, const PackedWeight& weight) {
  bytes_of_path_[{describe_cube(kernel), describe_precision(kernel, weight.format)}] += weight.bytes();
}

void Lowering::describe_weights() {
  size_t most = 0;
  for (const auto& [path, bytes] : bytes_of_path_) {
    if (bytes < most) continue;
    most = bytes;
    std::tie(plan_.cube, plan_.precision) = path;
  }
}

void Lowering::lower(NodeId id) {
  node_ = id;
  const Node& node = graph().node(id);
  const auto entry =
      std::find_if(std::begin(kLowerings), std::end(kLowerings), [&](auto& e) { return e.op == node.op; });
  ATB_CHECK(entry != std::end(kLowerings));
  entry->lower(*this, node);
}

/// The steps before a single node's last one only prepare operands.
void Lowering::finish_launch(const Launch& launch, size_t first_step) {
  if (plan_.steps.size() == first_step) return;
  const auto first = plan_.steps.begin() + static_cast<std::ptrdiff_t>(first_step);
  for (auto step = first; step != plan_.steps.end(); ++step) step->launch = static_cast<int>(plan_.infos.size());
  plan_.steps.back().ends_launch = true;
  plan_.steps.back().round_trips = round_trips_.of(launch.nodes);
  plan_.slab_bytes.push_back(slab_bytes(launch.region));
  if (launch.region != nullptr) {
    plan_.infos.push_back({launch.region->name, kernels_of({first, plan_.steps.end()}), launch.region->layer});
  } else {
    const Node& node = graph().node(launch.nodes.front());
    plan_.infos.push_back({op_info(node.op).name, plan_.steps.back().step->kernel(), node.path});
  }
}

TensorInfo Lowering::param(ValueId id) const {
  const Value& v = value(id);
  TensorInfo tensor = tensors_(v.tensor);
  if (tensor.dtype != v.dtype || !same_shape(tensor.shape, v.shape))
    fail("tensor '" + v.tensor + "' is " + dtype_name(tensor.dtype) + " " + text_of(tensor.shape) +
             ", the graph says " + dtype_name(v.dtype) + " " + to_string(v.shape),
         "use the graph that belongs to this file");
  return tensor;
}

const TensorRef& Lowering::tensor(ValueId id) {
  const auto known = tensors_of_.find(id);
  if (known != tensors_of_.end()) return known->second;
  const Value& v = value(id);
  TensorRef t;
  t.shape = extents_of(v.shape);
  t.strides = dense_strides(t.shape);
  if (v.kind == ValueKind::kConstant) {
    t.fixed = weights().repeat(static_cast<float>(v.constant), 1);
  } else if (v.kind == ValueKind::kParam) {
    if (!dtype_info(v.dtype).floating && !dtype_info(v.dtype).quantized)
      fail(std::string("cannot compute with ") + dtype_name(v.dtype) + " tensor '" + v.tensor + "'",
           "use a floating one");
    t.fixed = weights().expand(param(id));
  } else {
    fail("value '" + v.name + "' cannot be computed with here", "inputs and states belong to the operators for them");
  }
  return tensors_of_[id] = std::move(t);
}

RowsRef Lowering::rows(ValueId id) { return rows(tensor(id)); }

RowsRef Lowering::rows(const TensorRef& source) {
  if (source.scores) fail("scores cannot be used here", "only softmax, values and pointwise operators take them");
  RowsRef result;
  if (collapse_rows(source, result)) return result;
  const TensorRef from = source;  // `source` may move when the copy is defined
  TensorRef dense = new_tensor(from.shape.empty() ? Extents{Extent::fixed(1)} : from.shape);
  emit_copy(*this, from, dense);
  ATB_CHECK(collapse_rows(dense, result));
  return result;
}

RowsRef Lowering::vector(ValueId id, int64_t width) {
  const TensorRef& t = tensor(id);
  const Extent count = product(t.shape.data(), t.shape.data() + t.shape.size());
  if (count == Extent::fixed(1) && width != 1) {
    if (t.fixed == nullptr) fail("a weight of one number must be a param", "expand it to the size of the row");
    return {kNoBuffer, weights().repeat(*t.fixed, width), {}, Extent::fixed(1), width, width};
  }
  const RowsRef r = rows(t);
  ATB_CHECK(count == Extent::fixed(width) && (r.rows == Extent::fixed(1) || r.stride == r.width));
  return {r.buffer, r.fixed, r.offset, Extent::fixed(1), width, width};
}

GraphInput Lowering::input(ValueId id) const {
  const Value& v = value(id);
  for (size_t i = 0; v.kind == ValueKind::kInput && i < kInputNames.size(); ++i) {
    if (v.tensor != kInputNames[i]) continue;
    const Shape wanted = {Dim::symbol(i == 2 ? "outputs" : "tokens")};
    if (v.dtype != DType::kI32 || v.shape != wanted)
      fail("input '" + v.tensor + "' is " + dtype_name(v.dtype) + " " + to_string(v.shape),
           "it must be i32 " + to_string(wanted));
    return static_cast<GraphInput>(i);
  }
  fail("'" + v.name + "' is no input that an engine fills", "they are tokens, positions and logit_rows");
}

int Lowering::state(ValueId id) const {
  const auto found = states_of_.find(id);
  if (found == states_of_.end())
    fail("'" + value(id).name + "' is no result of kv_append", "keys and values come from the KV cache");
  return found->second;
}

void Lowering::limit_input(GraphInput which, int64_t limit) {
  int64_t& known = plan_.input_limits[static_cast<size_t>(which)];
  known = std::min(known, limit);
}

BufferId Lowering::new_buffer(Extents shape, size_t unit_bytes) {
  plan_.buffers.push_back({.shape = std::move(shape), .unit_bytes = unit_bytes});
  return static_cast<BufferId>(plan_.buffers.size()) - 1;
}

TensorRef Lowering::new_tensor(Extents shape) {
  const Extent tokens{0, 1, 0, 0}, context{0, 1, 0, 1};
  const size_t n = shape.size();
  TensorRef t;
  t.scores = n >= 2 && shape[n - 2] == tokens && shape[n - 1] == context;
  if (t.scores) {
    const Extent heads = product(shape.data(), shape.data() + n - 2);
    if (!heads.is_fixed()) fail("the number of heads depends on the batch", "give it as a number");
    t.heads = heads.constant;
  } else {
    if (std::any_of(shape.begin(), shape.end(), [](const Extent& e) { return e.past != 0; }))
      fail("a result depends on the context", "only scores may be [heads, tokens, past+tokens]");
    t.strides = dense_strides(shape);
  }
  t.buffer = new_buffer(shape, sizeof(float));
  Buffer& buffer = plan_.buffers.back();
  buffer.scores = t.scores;
  buffer.heads = t.heads;
  t.shape = std::move(shape);
  return t;
}

void Lowering::define(ValueId id, TensorRef tensor) { tensors_of_[id] = std::move(tensor); }

int Lowering::define_state(ValueId result, KvLayout layout) {
  const Node& node = graph().node(value(result).producer);
  const std::string& name = value(node.inputs[0]).tensor;
  for (const StateSpec& known : plan_.states)
    if (known.name == name) fail("state '" + name + "' is appended to twice", "append once per step");
  plan_.states.push_back({name, layout});
  const int index = static_cast<int>(plan_.states.size()) - 1;
  states_of_[result] = index;
  return index;
}

void Lowering::emit(std::unique_ptr<Step> step, StepOperands operands) {
  ATB_CHECK(operands.inputs.size() <= kMaxStepInputs);
  for (const RowsRef& in : operands.inputs) touch(in.buffer);
  touch(operands.output.buffer);
  plan_.steps.push_back({.step = std::move(step), .operands = std::move(operands)});
}

void Lowering::touch(BufferId id) {
  if (id == kNoBuffer) return;
  Buffer& buffer = plan_.buffers[static_cast<size_t>(id)];
  const int now = static_cast<int>(plan_.steps.size());
  if (buffer.first < 0) buffer.first = now;
  buffer.last = now;
}

BufferId& Lowering::prepared(const RowsRef& source, const std::string& key) {
  const Extent &o = source.offset, &r = source.rows;
  std::vector<int64_t> place = {o.constant,   o.tokens,      o.outputs,
                                r.constant,   r.tokens,      r.outputs,
                                source.width, source.stride, reinterpret_cast<int64_t>(source.fixed)};
  return prepared_.try_emplace({key, {source.buffer, std::move(place)}}, kNoBuffer).first->second;
}

RowsRef whole(const TensorRef& tensor) { return {tensor.buffer, tensor.fixed, tensor.offset, Extent::fixed(1), 0, 0}; }

}  // namespace atb

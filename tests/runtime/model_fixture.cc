#include "model_fixture.h"

#include <algorithm>
#include <cstring>

#include "base/half.h"

namespace atb::test {
namespace {

uint32_t next(uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

float uniform(uint32_t& state) { return static_cast<float>(next(state)) / static_cast<float>(1 << 23) - 1.0f; }

template <class T>
void append(std::vector<std::byte>& out, T value) {
  const auto* bytes = reinterpret_cast<const std::byte*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

/// One block of `dtype`, or one plain number, with values of about `scale`.
void append_block(std::vector<std::byte>& out, DType dtype, float scale, float centre, uint32_t& random) {
  if (dtype == DType::kF32) return append(out, centre + scale * uniform(random));
  if (dtype == DType::kBF16) return append(out, f32_to_bf16(centre + scale * uniform(random)));
  if (dtype == DType::kF16) return append(out, f32_to_f16(centre + scale * uniform(random)));
  if (dtype == DType::kQ4_1) {  // an fp16 scale and minimum, then 32 nibbles
    append(out, f32_to_f16(scale / 7.5f));
    append(out, f32_to_f16(centre - scale));
    for (int i = 0; i < 16; ++i) append(out, static_cast<uint8_t>(next(random) & 0xff));
    return;
  }
  append(out, f32_to_f16(scale / 127.0f));  // q8_0: an fp16 scale, then 32 int8
  for (int i = 0; i < 32; ++i) append(out, static_cast<int8_t>(static_cast<int>(next(random) % 255) - 127));
}

constexpr int64_t kHidden = 64, kHeads = 4, kKvHeads = 2, kHeadDim = 16, kIntermediate = 96;

}  // namespace

SmallModel::SmallModel(const SmallModelOptions& options) : options_(options), graph_("small") {
  const Dim tokens = Dim::symbol("tokens"), outputs = Dim::symbol("outputs");
  const ValueId ids = graph_.input("tokens", DType::kI32, {tokens});
  positions_ = graph_.input("positions", DType::kI32, {tokens});
  const ValueId rows = graph_.input("logit_rows", DType::kI32, {outputs});
  const ValueId table = weight("embed", {kVocabulary, kHidden}, options.weights);
  ValueId x = embedding(graph_, table, ids, "embed");
  if (graph_.value(x).dtype != DType::kF32) x = cast(graph_, x, DType::kF32, "embed.cast");
  for (int i = 0; i < options.layers; ++i) x = layer(x, i);
  x = take_rows(graph_, x, rows, "last");
  x = rms_norm(graph_, x, weight("norm", {kHidden}, DType::kF32), {}, "norm");
  graph_.output("logits", matmul(graph_, x, table, "head"));
}

ValueId SmallModel::weight(const std::string& name, Shape shape, DType dtype) {
  const DTypeInfo& info = dtype_info(dtype);
  std::vector<std::byte>& bytes = data_[name];
  TensorInfo tensor{name, dtype, {}, nullptr, 0};
  int64_t elements = 1;
  for (const Dim& d : shape) tensor.shape.push_back(d.constant()), elements *= d.constant();
  const bool is_norm = shape.size() == 1;
  // Rows of unit length on average, so that activations keep their size from layer to layer.
  const float scale = is_norm ? 0.2f : 1.7f / 8.0f;
  for (int64_t i = 0; i < elements; i += info.block_size)
    append_block(bytes, dtype, scale, is_norm ? 1.0f : 0.0f, random_);
  tensor.data = bytes.data();
  tensor.bytes = bytes.size();
  tensors_[name] = tensor;
  return graph_.param(name, dtype, std::move(shape));
}

ValueId SmallModel::attention_part(ValueId x, const std::string& path) {
  const RopeAttrs rotary{.head_dim = kHeadDim, .rotary_dim = kHeadDim};
  const auto project = [&](const char* name, int64_t out) {
    return matmul(graph_, x, weight(path + name, {out, kHidden}, options_.weights), path + name);
  };
  const ValueId q_flat = project("q", kHidden), k_flat = project("k", kKvHeads * kHeadDim);
  const ValueId v = project("v", kKvHeads * kHeadDim);
  const ValueId q = rope(graph_, q_flat, positions_, rotary, path + "rope_q");
  const ValueId k = rope(graph_, k_flat, positions_, rotary, path + "rope_k");
  const Shape state = {Dim::symbol("past"), kKvHeads * kHeadDim};
  const ValueId keys = kv_append(graph_, graph_.state(path + "keys", options_.kv, state), k, path + "append_k");
  const ValueId vals = kv_append(graph_, graph_.state(path + "values", options_.kv, state), v, path + "append_v");
  const ScoresAttrs attrs{.heads = kHeads, .kv_heads = kKvHeads, .head_dim = kHeadDim, .scale = 0.25f, .causal = true};
  const ValueId p = softmax(graph_, scores(graph_, q, keys, attrs, path + "scores"), path + "softmax");
  return values(graph_, p, vals, {kHeads, kKvHeads, kHeadDim}, path + "values");
}

ValueId SmallModel::layer(ValueId x, int index) {
  const std::string path = "layers." + std::to_string(index) + ".";
  const DType w = options_.weights;
  ValueId h = rms_norm(graph_, x, weight(path + "norm1", {kHidden}, DType::kF32), {}, path + "norm1");
  h = matmul(graph_, attention_part(h, path), weight(path + "o", {kHidden, kHidden}, w), path + "o");
  x = add(graph_, x, h, path + "add1");
  h = rms_norm(graph_, x, weight(path + "norm2", {kHidden}, DType::kF32), {}, path + "norm2");
  const ValueId gate = matmul(graph_, h, weight(path + "gate", {kIntermediate, kHidden}, w), path + "gate");
  const ValueId up = matmul(graph_, h, weight(path + "up", {kIntermediate, kHidden}, w), path + "up");
  h = mul(graph_, activation(graph_, gate, ActivationKind::kSilu, path + "silu"), up, path + "mul");
  h = matmul(graph_, h, weight(path + "down", {kHidden, kIntermediate}, w), path + "down");
  return add(graph_, x, h, path + "add2");
}

TensorLookup SmallModel::lookup() const {
  return [this](const std::string& name) { return tensors_.at(name); };
}

std::vector<double> SmallModel::reference(const Graph& graph, std::span<const int32_t> tokens) const {
  std::map<std::string, RefTensor> bindings;
  const auto count = static_cast<int64_t>(tokens.size());
  RefTensor numbers{{count}, {}, DType::kI32};
  for (int64_t i = 0; i < count; ++i) numbers.data.push_back(static_cast<double>(i));
  bindings["positions"] = bindings["logit_rows"] = numbers;
  std::copy(tokens.begin(), tokens.end(), numbers.data.begin());
  bindings["tokens"] = numbers;
  for (const auto& [name, tensor] : tensors_) {
    std::vector<float> values(static_cast<size_t>(tensor.elements()));
    dequantize(tensor.dtype, tensor.data, 0, tensor.elements(), values.data());
    bindings[name] = {tensor.shape, {values.begin(), values.end()}, tensor.dtype};
  }
  for (const Value& v : graph.values())
    if (v.kind == ValueKind::kState) bindings[v.tensor] = {{0, kKvHeads * kHeadDim}, {}, v.dtype};
  return run_reference(graph, bindings).outputs.at("logits").data;
}

std::vector<int32_t> random_tokens(size_t count, uint32_t seed) {
  std::vector<int32_t> tokens(count);
  for (auto& t : tokens) t = static_cast<int32_t>(next(seed) % SmallModel::kVocabulary);
  return tokens;
}

Runner::Runner(const Graph& graph, const SmallModel& model, DType kv, const RunOptions& o)
    : options(o),
      pool(o.threads),
      plan(Plan::build(graph, model.lookup(),
                       {.isas = IsaSet(cpu_features(), o.max_isa),
                        .precision = o.precision,
                        .kv_dtype = kv,
                        .max_rows = 80,
                        .max_context = 200},
                       pool, o.regions)),
      executor(*plan, pool) {}

std::vector<float> Runner::logits(std::span<const int32_t> tokens) {
  KvCache sequence = cache();
  std::vector<float> all;
  for (size_t i = 0; i < tokens.size(); i += static_cast<size_t>(options.block)) {
    const auto part = tokens.subspan(i, std::min(static_cast<size_t>(options.block), tokens.size() - i));
    const SequenceStep step{&sequence, part, true};
    const auto rows = executor.step({&step, 1});
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

}  // namespace atb::test

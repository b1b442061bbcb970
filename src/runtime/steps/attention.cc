#include "kernels/attention/attention.h"

#include "ir/infer.h"
#include "kernels/softmax/softmax.h"
#include "runtime/lowering.h"

namespace atb {
namespace {

constexpr Extent kTokens{0, 1, 0, 0};

class KvAppendStep final : public PartitionedStep {
 public:
  KvAppendStep(KvLayout layout, bool is_key, int state, const IsaSet& isas)
      : PartitionedStep({Partition::Kind::kTokens, 1}),
        kernel_(select_kv_append(layout, is_key, isas)),
        layout_(layout),
        state_(state) {}

  const char* kernel() const noexcept override { return kernel_.name; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    const View x = args.in[0];
    for_each_sequence(args.batch, 1, begin, end, [&](const SequenceRows& s, int64_t from, int64_t to) {
      kernel_.fn({.x = x.data + s.first_row * x.stride,
                  .ldx = x.stride,
                  .rows = s.rows,
                  .past = s.past,
                  .pages = s.cache->pages(state_),
                  .layout = layout_},
                 from, to);
    });
  }

 private:
  const Kernel<KvAppendFn>& kernel_;
  KvLayout layout_;
  int state_;
};

class ScoresStep final : public PartitionedStep {
 public:
  ScoresStep(const ScoresAttrs& attrs, KvLayout layout, int state, const IsaSet& isas)
      : PartitionedStep({Partition::Kind::kScores, attrs.heads}),
        kernel_(select_scores(layout.dtype, isas)),
        attrs_(attrs),
        layout_(layout),
        state_(state) {
    if (attrs.alibi) alibi_ = alibi_slopes(attrs.heads);
  }

  const char* kernel() const noexcept override { return kernel_.name; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    const View q = args.in[0];
    for_each_sequence(args.batch, attrs_.heads, begin, end, [&](const SequenceRows& s, int64_t from, int64_t to) {
      kernel_.fn({.q = q.data + s.first_row * q.stride,
                  .ldq = q.stride,
                  .rows = s.rows,
                  .past = s.past,
                  .keys = s.cache->pages(state_),
                  .layout = layout_,
                  .attrs = attrs_,
                  .alibi = alibi_.empty() ? nullptr : alibi_.data(),
                  .mask = nullptr,
                  .mask_lowest = 0,
                  .mask_head_stride = 0,
                  .mask_row_stride = 0,
                  .s = args.out.data + attrs_.heads * s.score_begin,
                  .lds = s.score_stride},
                 from, to);
    });
  }

 private:
  const Kernel<ScoresFn>& kernel_;
  ScoresAttrs attrs_;
  KvLayout layout_;
  int state_;
  std::vector<double> alibi_;
};

/// Softmax over the scores of every head and row.
class ScoresSoftmaxStep final : public PartitionedStep {
 public:
  ScoresSoftmaxStep(const Kernel<SoftmaxFn>& kernel, int64_t heads)
      : PartitionedStep({Partition::Kind::kScores, heads}), kernel_(kernel), heads_(heads) {}

  const char* kernel() const noexcept override { return kernel_.name; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    for_each_sequence(args.batch, heads_, begin, end, [&](const SequenceRows& s, int64_t from, int64_t to) {
      kernel_.fn({.x = args.in[0].data + heads_ * s.score_begin,
                  .ldx = s.score_stride,
                  .y = args.out.data + heads_ * s.score_begin,
                  .ldy = s.score_stride,
                  .columns = s.context()},
                 from, to);
    });
  }

 private:
  const Kernel<SoftmaxFn>& kernel_;
  int64_t heads_;
};

class RowsSoftmaxStep final : public PartitionedStep {
 public:
  RowsSoftmaxStep(Partition partition, const Kernel<SoftmaxFn>& kernel, int64_t columns)
      : PartitionedStep(partition), kernel_(kernel), columns_(columns) {}

  const char* kernel() const noexcept override { return kernel_.name; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    kernel_.fn({.x = args.in[0].data,
                .ldx = args.in[0].stride,
                .y = args.out.data,
                .ldy = args.out.stride,
                .columns = columns_},
               begin, end);
  }

 private:
  const Kernel<SoftmaxFn>& kernel_;
  int64_t columns_;
};

class ValuesStep final : public PartitionedStep {
 public:
  ValuesStep(const ValuesAttrs& attrs, KvLayout layout, int state, const IsaSet& isas)
      : PartitionedStep({Partition::Kind::kScores, attrs.heads}),
        kernel_(select_values(layout.dtype, isas)),
        heads_(attrs.heads),
        layout_(layout),
        state_(state) {}

  const char* kernel() const noexcept override { return kernel_.name; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    for_each_sequence(args.batch, heads_, begin, end, [&](const SequenceRows& s, int64_t from, int64_t to) {
      kernel_.fn({.p = args.in[0].data + heads_ * s.score_begin,
                  .ldp = s.score_stride,
                  .rows = s.rows,
                  .past = s.past,
                  .values = s.cache->pages(state_),
                  .layout = layout_,
                  .heads = heads_,
                  .o = args.out.data + s.first_row * args.out.stride,
                  .ldo = args.out.stride},
                 from, to);
    });
  }

 private:
  const Kernel<ValuesFn>& kernel_;
  int64_t heads_;
  KvLayout layout_;
  int state_;
};

struct StateUse {
  KvLayout layout;
  bool is_key = false;
};

/// How the readers of a state want it stored: keys for scores, values for values; all must agree.
StateUse use_of_state(const Lowering& lowering, const Node& append) {
  const Value& state = lowering.value(append.inputs[0]);
  std::optional<StateUse> use;
  for (const Node& reader : lowering.graph().nodes()) {
    for (size_t i = 0; i < reader.inputs.size(); ++i) {
      if (reader.inputs[i] != append.output) continue;
      StateUse wanted{{.dtype = state.dtype}, reader.op == Op::kScores};
      if (i != 1 || (reader.op != Op::kScores && reader.op != Op::kValues))
        lowering.fail(std::string("state '") + state.tensor + "' is read by " + op_info(reader.op).name,
                      "keys are read by scores, values by values");
      std::visit(
          [&](const auto& attrs) {
            if constexpr (requires { attrs.kv_heads; }) {
              wanted.layout.kv_heads = attrs.kv_heads;
              wanted.layout.head_dim = attrs.head_dim;
            }
          },
          reader.attrs);
      const bool agrees = !use || (use->is_key == wanted.is_key && use->layout.kv_heads == wanted.layout.kv_heads);
      if (!agrees) lowering.fail("state '" + state.tensor + "' is read in two ways", "append to one state per use");
      use = wanted;
    }
  }
  if (!use) lowering.fail("nothing reads state '" + state.tensor + "'", "drop its kv_append");
  return *use;
}

}  // namespace

void lower_kv_append(Lowering& lowering, const Node& node) {
  const Value& state = lowering.value(node.inputs[0]);
  const DType dtype = lowering.options().kv_dtype;
  if (state.kind != ValueKind::kState || state.dtype != dtype)
    lowering.fail(std::string("kv_append needs a state of ") + dtype_name(dtype) + ", found " + dtype_name(state.dtype),
                  "declare the state so, or choose its dtype as the type of the KV cache");
  const StateUse use = use_of_state(lowering, node);
  const RowsRef x = lowering.rows(node.inputs[1]);
  if (x.rows != kTokens) lowering.fail("kv_append appends [tokens, features]", "reshape its input");
  const int index = lowering.define_state(node.output, use.layout);
  lowering.emit(std::make_unique<KvAppendStep>(use.layout, use.is_key, index, lowering.options().isas),
                {.inputs = {x}, .output = {}, .state_written = index});
}

void lower_scores(Lowering& lowering, const Node& node) {
  const auto& attrs = std::get<ScoresAttrs>(node.attrs);
  if (attrs.mask != MaskKind::kNone) lowering.fail("no input carries a mask", "use causal and window");
  const int state = lowering.state(node.inputs[1]);
  const KvLayout layout{lowering.value(node.inputs[1]).dtype, attrs.kv_heads, attrs.head_dim};
  const RowsRef q = lowering.rows(node.inputs[0]);
  const TensorRef out = lowering.new_tensor(extents_of(lowering.value(node.output).shape));
  if (!out.scores || q.rows != kTokens) lowering.fail("scores takes queries [tokens, features]", "reshape its input");
  lowering.define(node.output, out);
  lowering.emit(std::make_unique<ScoresStep>(attrs, layout, state, lowering.options().isas),
                {.inputs = {q}, .output = whole(out), .state_read = state});
}

void lower_softmax(Lowering& lowering, const Node& node) {
  const TensorRef out = lowering.new_tensor(extents_of(lowering.value(node.output).shape));
  const auto& kernel = select_kernel(softmax_kernels(), lowering.options().isas);
  if (out.scores) {
    const RowsRef x = whole(lowering.tensor(node.inputs[0]));
    lowering.define(node.output, out);
    lowering.emit(std::make_unique<ScoresSoftmaxStep>(kernel, out.heads), {.inputs = {x}, .output = whole(out)});
    return;
  }
  const RowsRef x = lowering.rows(node.inputs[0]), y = lowering.rows(out);
  lowering.define(node.output, out);
  lowering.emit(std::make_unique<RowsSoftmaxStep>(partition_of(y.rows), kernel, y.width), {.inputs = {x}, .output = y});
}

void lower_values(Lowering& lowering, const Node& node) {
  const auto& attrs = std::get<ValuesAttrs>(node.attrs);
  const TensorRef p = lowering.tensor(node.inputs[0]);
  if (!p.scores) lowering.fail("values takes weights [heads, tokens, past+tokens]", "compute them with softmax");
  const int state = lowering.state(node.inputs[1]);
  const KvLayout layout{lowering.value(node.inputs[1]).dtype, attrs.kv_heads, attrs.head_dim};
  const TensorRef out = lowering.new_tensor(extents_of(lowering.value(node.output).shape));
  lowering.define(node.output, out);
  lowering.emit(std::make_unique<ValuesStep>(attrs, layout, state, lowering.options().isas),
                {.inputs = {whole(p)}, .output = lowering.rows(out), .state_read = state, .heavy = true});
}

}  // namespace atb

#include "kernels/pointwise/pointwise.h"

#include <algorithm>
#include <array>

#include "runtime/lowering.h"

namespace atb {
namespace {

using PointwiseKernel = Kernel<PointwiseFn>;

/// Rows of equal width; an operand with stride 0 is one row for all, one with step 0 one number per row.
class RowPointwiseStep final : public PartitionedStep {
 public:
  RowPointwiseStep(Partition partition, const PointwiseKernel& kernel, int64_t width, std::vector<int64_t> steps)
      : PartitionedStep(partition), kernel_(kernel), width_(width), steps_(std::move(steps)) {}

  const char* kernel() const noexcept override { return kernel_.name; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    PointwiseArgs p;
    p.out = args.out.data + begin * args.out.stride;
    for (size_t i = 0; i < steps_.size(); ++i) p.in[i] = args.in[i].data + begin * args.in[i].stride;
    if (is_one_run(args)) {
      p.dims = 1;
      p.size[0] = (end - begin) * width_;
      p.out_stride[0] = 1;
      for (size_t i = 0; i < steps_.size(); ++i) p.in_stride[i][0] = steps_[i];
    } else {
      p.dims = 2;
      p.size[0] = end - begin, p.size[1] = width_;
      p.out_stride[0] = args.out.stride, p.out_stride[1] = 1;
      for (size_t i = 0; i < steps_.size(); ++i) p.in_stride[i][0] = args.in[i].stride, p.in_stride[i][1] = steps_[i];
    }
    kernel_.fn(p, 0, (end - begin) * width_);
  }

 private:
  /// Rows that follow each other in every operand are one long row.
  bool is_one_run(const StepArgs& args) const noexcept {
    bool one = args.out.stride == width_;
    for (size_t i = 0; i < steps_.size(); ++i) one = one && args.in[i].stride == width_ * steps_[i];
    return one;
  }

  const PointwiseKernel& kernel_;
  int64_t width_;
  std::vector<int64_t> steps_;
};

/// Scores with scores, or with single numbers (step 0).
class ScoresPointwiseStep final : public PartitionedStep {
 public:
  ScoresPointwiseStep(const PointwiseKernel& kernel, int64_t heads, std::vector<int64_t> steps)
      : PartitionedStep({Partition::Kind::kScores, heads}), kernel_(kernel), heads_(heads), steps_(std::move(steps)) {}

  const char* kernel() const noexcept override { return kernel_.name; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    for_each_sequence(args.batch, heads_, begin, end, [&](const SequenceRows& s, int64_t from, int64_t to) {
      const int64_t first = heads_ * s.score_begin + from * s.score_stride;
      PointwiseArgs p;
      p.dims = 2;
      p.size[0] = to - from, p.size[1] = s.context();
      p.out = args.out.data + first;
      p.out_stride[0] = s.score_stride, p.out_stride[1] = 1;
      for (size_t i = 0; i < steps_.size(); ++i) {
        p.in[i] = args.in[i].data + first * steps_[i];
        p.in_stride[i][0] = s.score_stride * steps_[i], p.in_stride[i][1] = steps_[i];
      }
      kernel_.fn(p, 0, p.elements());
    });
  }

 private:
  const PointwiseKernel& kernel_;
  int64_t heads_;
  std::vector<int64_t> steps_;
};

/// Any strides and broadcasts.
class StridedPointwiseStep final : public Step {
 public:
  StridedPointwiseStep(const PointwiseKernel& kernel, TensorRef out, std::vector<TensorRef> in)
      : kernel_(kernel), out_(std::move(out)), in_(std::move(in)) {}

  const char* kernel() const noexcept override { return kernel_.name; }

  int64_t tiles(const Batch& batch) const noexcept override {
    int64_t elements = 1;
    for (const Extent& e : out_.shape) elements *= e.at(batch.symbols());
    return elements;
  }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    const Numbers out(out_, args.batch.symbols());
    std::array<Numbers, kMaxOperands> in;
    std::array<StridedInput, kMaxOperands> inputs;
    for (size_t i = 0; i < in_.size(); ++i) {
      in[i] = Numbers(in_[i], args.batch.symbols());
      inputs[i] = {args.in[i].data, in[i].shape_span(), in[i].stride_span()};
    }
    const PointwiseArgs loop =
        pointwise_loop(args.out.data, out.shape_span(), out.stride_span(), {inputs.data(), in_.size()});
    kernel_.fn(loop, begin, end);
  }

 private:
  /// Shape and strides of one operand for one batch.
  struct Numbers {
    Numbers() = default;
    Numbers(const TensorRef& tensor, const Symbols& symbols) : rank(tensor.shape.size()) {
      for (size_t d = 0; d < rank; ++d) {
        shape[d] = tensor.shape[d].at(symbols);
        strides[d] = tensor.strides[d].at(symbols);
      }
    }
    std::span<const int64_t> shape_span() const { return {shape, rank}; }
    std::span<const int64_t> stride_span() const { return {strides, rank}; }
    size_t rank = 0;
    int64_t shape[kMaxDims] = {}, strides[kMaxDims] = {};
  };

  const PointwiseKernel& kernel_;
  TensorRef out_;
  std::vector<TensorRef> in_;
};

bool is_one_number(const TensorRef& t) {
  return !t.scores &&
         std::all_of(t.shape.begin(), t.shape.end(), [](const Extent& e) { return e == Extent::fixed(1); });
}

/// `t` as an operand of a row-wise step over `out`, and its step within a row; false if it broadcasts otherwise.
bool row_operand(const TensorRef& t, const RowsRef& out, RowsRef& operand, int64_t& step) {
  if (is_one_number(t)) {
    operand = whole(t);
    step = 0;
    return true;
  }
  if (!collapse_rows(t, operand)) return false;
  const bool one_row = operand.rows == Extent::fixed(1);
  if (!one_row && operand.rows != out.rows) return false;
  if (operand.width != out.width && operand.width != 1) return false;
  if (one_row) operand.stride = 0;
  step = operand.width == out.width ? 1 : 0;
  return true;
}

/// Broadcasting aligns dimensions at the end, so equal row counts mean equal rows only if the leading dimensions agree.
bool same_leading(const TensorRef& t, const TensorRef& out) {
  return t.shape.size() == out.shape.size() && std::equal(t.shape.begin(), t.shape.end() - 1, out.shape.begin());
}

bool emit_rows(Lowering& lowering, const PointwiseKernel& kernel, const TensorRef& out,
               const std::vector<TensorRef>& in) {
  RowsRef y;
  if (!collapse_rows(out, y)) return false;
  std::vector<RowsRef> operands(in.size());
  std::vector<int64_t> steps(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    if (!row_operand(in[i], y, operands[i], steps[i])) return false;
    if (operands[i].rows != Extent::fixed(1) && !same_leading(in[i], out)) return false;
  }
  lowering.emit(std::make_unique<RowPointwiseStep>(partition_of(y.rows), kernel, y.width, std::move(steps)),
                {.inputs = std::move(operands), .output = y});
  return true;
}

void emit_scores(Lowering& lowering, const PointwiseKernel& kernel, const TensorRef& out,
                 const std::vector<TensorRef>& in) {
  std::vector<RowsRef> operands;
  std::vector<int64_t> steps;
  for (const TensorRef& t : in) {
    if (!(t.scores && t.heads == out.heads) && !is_one_number(t))
      lowering.fail("scores are combined with a tensor of another shape",
                    "only scores and single numbers go with them");
    operands.push_back(whole(t));
    steps.push_back(t.scores ? 1 : 0);
  }
  lowering.emit(std::make_unique<ScoresPointwiseStep>(kernel, out.heads, std::move(steps)),
                {.inputs = std::move(operands), .output = whole(out)});
}

void emit_pointwise(Lowering& lowering, PointwiseFunction function, const TensorRef& out, std::vector<TensorRef> in) {
  const auto& kernel = select_kernel(pointwise_kernels(function), lowering.options().isas);
  if (out.scores) return emit_scores(lowering, kernel, out, in);
  if (emit_rows(lowering, kernel, out, in)) return;
  std::vector<RowsRef> operands;
  for (const TensorRef& t : in) {
    if (t.scores || t.shape.size() > kMaxDims)
      lowering.fail("a tensor of " + std::to_string(t.shape.size()) + " dimensions cannot be combined here",
                    "use at most " + std::to_string(kMaxDims));
    operands.push_back(whole(t));
  }
  const RowsRef target = whole(out);
  lowering.emit(std::make_unique<StridedPointwiseStep>(kernel, out, std::move(in)),
                {.inputs = std::move(operands), .output = target});
}

}  // namespace

void lower_pointwise(Lowering& lowering, const Node& node) {
  std::vector<TensorRef> in;
  for (ValueId id : node.inputs) in.push_back(lowering.tensor(id));
  const TensorRef out = lowering.new_tensor(extents_of(lowering.value(node.output).shape));
  lowering.define(node.output, out);
  emit_pointwise(lowering, pointwise_function(node.op, node.attrs), out, std::move(in));
}

void emit_copy(Lowering& lowering, const TensorRef& source, const TensorRef& target) {
  emit_pointwise(lowering, PointwiseFunction::kCopy, target, {source});
}

}  // namespace atb

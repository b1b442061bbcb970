#include "kernels/layer_norm/layer_norm.h"
#include "kernels/rms_norm/rms_norm.h"
#include "runtime/lowering.h"

namespace atb {
namespace {

class LayerNormStep final : public PartitionedStep {
 public:
  LayerNormStep(Partition partition, const Kernel<LayerNormFn>& kernel, int64_t columns, float eps, bool has_bias)
      : PartitionedStep(partition), kernel_(kernel), columns_(columns), eps_(eps), has_bias_(has_bias) {}

  const char* kernel() const noexcept override { return kernel_.name; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    kernel_.fn({.x = args.in[0].data,
                .ldx = args.in[0].stride,
                .weight = args.in[1].data,
                .bias = has_bias_ ? args.in[2].data : nullptr,
                .y = args.out.data,
                .ldy = args.out.stride,
                .columns = columns_,
                .eps = eps_},
               begin, end);
  }

 private:
  const Kernel<LayerNormFn>& kernel_;
  int64_t columns_;
  float eps_;
  bool has_bias_;
};

class RmsNormStep final : public PartitionedStep {
 public:
  RmsNormStep(Partition partition, const Kernel<RmsNormFn>& kernel, int64_t columns, const RmsNormAttrs& attrs,
              DType round_to)
      : PartitionedStep(partition), kernel_(kernel), columns_(columns), attrs_(attrs), round_to_(round_to) {}

  const char* kernel() const noexcept override { return kernel_.name; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    kernel_.fn({.x = args.in[0].data,
                .ldx = args.in[0].stride,
                .weight = args.in[1].data,
                .y = args.out.data,
                .ldy = args.out.stride,
                .columns = columns_,
                .eps = attrs_.eps,
                .one_plus_weight = attrs_.one_plus_weight,
                .round_to = round_to_},
               begin, end);
  }

 private:
  const Kernel<RmsNormFn>& kernel_;
  int64_t columns_;
  RmsNormAttrs attrs_;
  DType round_to_;
};

struct NormOperands {
  std::vector<RowsRef> inputs;  // x, weight[, bias]
  RowsRef out;
  Partition partition;
};

NormOperands norm_operands(Lowering& lowering, const Node& node) {
  NormOperands o;
  const RowsRef x = lowering.rows(node.inputs[0]);
  o.inputs.push_back(x);
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i] != kNoValue) o.inputs.push_back(lowering.vector(node.inputs[i], x.width));
  const TensorRef out = lowering.new_tensor(extents_of(lowering.value(node.output).shape));
  lowering.define(node.output, out);
  o.out = lowering.rows(out);
  o.partition = partition_of(o.out.rows);
  return o;
}

}  // namespace

void lower_layer_norm(Lowering& lowering, const Node& node) {
  NormOperands o = norm_operands(lowering, node);
  const float eps = std::get<LayerNormAttrs>(node.attrs).eps;
  const auto& kernel = select_kernel(layer_norm_kernels(), lowering.options().isas);
  auto step = std::make_unique<LayerNormStep>(o.partition, kernel, o.out.width, eps, o.inputs.size() == 3);
  lowering.emit(std::move(step), {.inputs = std::move(o.inputs), .output = o.out});
}

void lower_rms_norm(Lowering& lowering, const Node& node) {
  NormOperands o = norm_operands(lowering, node);
  const auto& attrs = std::get<RmsNormAttrs>(node.attrs);
  const DType round_to = attrs.round_before_weight ? lowering.value(node.inputs[0]).dtype : DType::kF32;
  const auto& kernel = select_kernel(rms_norm_kernels(), lowering.options().isas);
  auto step = std::make_unique<RmsNormStep>(o.partition, kernel, o.out.width, attrs, round_to);
  lowering.emit(std::move(step), {.inputs = std::move(o.inputs), .output = o.out});
}

}  // namespace atb

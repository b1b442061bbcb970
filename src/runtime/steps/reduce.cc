#include "kernels/reduce/reduce.h"

#include "runtime/lowering.h"

namespace atb {
namespace {

class ReduceStep final : public Step {
 public:
  ReduceStep(const Kernel<ReduceFn>& kernel, ReduceKind kind, Extents shape, size_t axis)
      : kernel_(kernel), kind_(kind), shape_(std::move(shape)), axis_(axis) {}

  const char* kernel() const noexcept override { return kernel_.name; }

  int64_t tiles(const Batch& batch) const noexcept override {
    return elements(batch, 0, axis_) * elements(batch, axis_ + 1, shape_.size());
  }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    kernel_.fn({.x = args.in[0].data,
                .length = shape_[axis_].at(args.batch.symbols()),
                .inner = elements(args.batch, axis_ + 1, shape_.size()),
                .y = args.out.data,
                .kind = kind_},
               begin, end);
  }

 private:
  int64_t elements(const Batch& batch, size_t from, size_t to) const noexcept {
    int64_t n = 1;
    for (size_t i = from; i < to; ++i) n *= shape_[i].at(batch.symbols());
    return n;
  }

  const Kernel<ReduceFn>& kernel_;
  ReduceKind kind_;
  Extents shape_;
  size_t axis_;
};

}  // namespace

void lower_reduce(Lowering& lowering, const Node& node) {
  const auto& attrs = std::get<ReduceAttrs>(node.attrs);
  TensorRef x = lowering.tensor(node.inputs[0]);
  if (x.scores) lowering.fail("scores cannot be reduced", "only softmax, values and pointwise operators take them");
  if (!is_dense(x)) {
    const TensorRef dense = lowering.new_tensor(x.shape);
    emit_copy(lowering, x, dense);
    x = dense;
  }
  const auto rank = static_cast<int64_t>(x.shape.size());
  const auto axis = static_cast<size_t>(attrs.axis < 0 ? attrs.axis + rank : attrs.axis);
  const TensorRef out = lowering.new_tensor(extents_of(lowering.value(node.output).shape));
  lowering.define(node.output, out);
  const auto& kernel = select_kernel(reduce_kernels(), lowering.options().isas);
  lowering.emit(std::make_unique<ReduceStep>(kernel, attrs.kind, x.shape, axis),
                {.inputs = {whole(x)}, .output = whole(out)});
}

}  // namespace atb

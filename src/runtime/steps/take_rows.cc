#include "kernels/rows/rows.h"
#include "runtime/lowering.h"

namespace atb {
namespace {

class TakeRowsStep final : public Step {
 public:
  explicit TakeRowsStep(int64_t columns) : columns_(columns) {}

  const char* kernel() const noexcept override { return "take_rows/portable"; }
  int64_t tiles(const Batch& batch) const noexcept override { return batch.outputs; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    take_rows({.x = args.in[0].data,
               .ldx = args.in[0].stride,
               .columns = columns_,
               .rows = args.batch.inputs[static_cast<size_t>(GraphInput::kLogitRows)],
               .y = args.out.data,
               .ldy = args.out.stride},
              begin, end);
  }

 private:
  int64_t columns_;
};

}  // namespace

void lower_take_rows(Lowering& lowering, const Node& node) {
  const RowsRef x = lowering.rows(node.inputs[0]);
  if (lowering.input(node.inputs[1]) != GraphInput::kLogitRows || x.rows != Extent{0, 1, 0, 0})
    lowering.fail("take_rows picks rows of [tokens, ...] by the input logit_rows", "use it for the rows of the logits");
  const TensorRef out = lowering.new_tensor(extents_of(lowering.value(node.output).shape));
  lowering.define(node.output, out);
  lowering.emit(std::make_unique<TakeRowsStep>(x.width), {.inputs = {x}, .output = lowering.rows(out)});
}

}  // namespace atb

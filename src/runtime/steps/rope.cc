#include "kernels/rope/rope.h"

#include "runtime/lowering.h"

namespace atb {
namespace {

/// The cosines and sines of a step's positions, shared by every rope of the graph that turns at the same frequencies.
class RopeAnglesStep final : public PartitionedStep {
 public:
  explicit RopeAnglesStep(RopeFrequencies frequencies)
      : PartitionedStep({Partition::Kind::kTokens, 1}), frequencies_(std::move(frequencies)) {}

  const char* kernel() const noexcept override { return "rope_angles/portable"; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    rope_angles(frequencies_, args.batch.inputs[static_cast<size_t>(GraphInput::kPositions)], begin, end,
                args.out.data);
  }

 private:
  RopeFrequencies frequencies_;
};

class RopeStep final : public PartitionedStep {
 public:
  RopeStep(const Kernel<RopeFn>& kernel, const RopeAttrs& attrs, int64_t width)
      : PartitionedStep({Partition::Kind::kTokens, 1}),
        kernel_(kernel),
        attrs_(attrs),
        heads_(width / attrs.head_dim) {}

  const char* kernel() const noexcept override { return kernel_.name; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    kernel_.fn({.x = args.in[0].data,
                .ldx = args.in[0].stride,
                .angles = args.in[1].data,
                .y = args.out.data,
                .ldy = args.out.stride,
                .heads = heads_,
                .head_dim = attrs_.head_dim,
                .rotary_dim = attrs_.rotary_dim,
                .pairing = attrs_.pairing},
               begin, end);
  }

 private:
  const Kernel<RopeFn>& kernel_;
  RopeAttrs attrs_;
  int64_t heads_;
};

std::vector<float> frequency_factors(Lowering& lowering, const Node& node) {
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return {};
  const RowsRef factors = lowering.vector(node.inputs[2], std::get<RopeAttrs>(node.attrs).rotary_dim / 2);
  if (factors.fixed == nullptr)
    lowering.fail("the frequency factors of rope must be a param", "compute them beforehand");
  return {factors.fixed, factors.fixed + factors.width};
}

/// Two tables are the same if their frequencies are, bit for bit.
std::string key_of(const RopeFrequencies& f) {
  std::string key = "rope angles ";
  key.append(reinterpret_cast<const char*>(&f.magnitude), sizeof f.magnitude);
  key.append(reinterpret_cast<const char*>(f.inverse.data()), f.inverse.size() * sizeof(double));
  return key;
}

RowsRef angles(Lowering& lowering, const Node& node) {
  RopeFrequencies frequencies = rope_frequencies(std::get<RopeAttrs>(node.attrs), frequency_factors(lowering, node));
  const int64_t width = std::get<RopeAttrs>(node.attrs).rotary_dim;
  const Extent tokens{0, 1, 0, 0};
  BufferId& buffer = lowering.prepared({}, key_of(frequencies));
  const bool is_new = buffer == kNoBuffer;
  if (is_new) buffer = lowering.new_buffer({tokens, Extent::fixed(width)}, sizeof(float));
  const RowsRef table{buffer, nullptr, {}, tokens, width, width};
  if (is_new) lowering.emit(std::make_unique<RopeAnglesStep>(std::move(frequencies)), {.inputs = {}, .output = table});
  return table;
}

}  // namespace

void lower_rope(Lowering& lowering, const Node& node) {
  const RowsRef x = lowering.rows(node.inputs[0]);
  if (lowering.input(node.inputs[1]) != GraphInput::kPositions || x.rows != Extent{0, 1, 0, 0})
    lowering.fail("rope turns [tokens, heads*head_dim] by the input positions", "reshape its input");
  const RowsRef table = angles(lowering, node);
  const TensorRef out = lowering.new_tensor(extents_of(lowering.value(node.output).shape));
  lowering.define(node.output, out);
  const auto& kernel = select_kernel(rope_kernels(), lowering.options().isas);
  lowering.emit(std::make_unique<RopeStep>(kernel, std::get<RopeAttrs>(node.attrs), x.width),
                {.inputs = {x, table}, .output = lowering.rows(out)});
}

}  // namespace atb

// Broadcasting and merging of dimensions.
#include "base/check.h"
#include "kernels/pointwise/pointwise.h"

namespace atb {
namespace {

/// The stride of `in` along dimension d of an output of `rank` dimensions; 0 where it repeats.
int64_t stride_at(const StridedInput& in, size_t rank, size_t d, int64_t size) {
  const size_t missing = rank - in.shape.size();
  if (d < missing) return 0;
  const int64_t own = in.shape[d - missing];
  ATB_CHECK(own == size || own == 1);
  return own == 1 ? 0 : in.strides[d - missing];
}

/// Appends one dimension, or widens the last one if every operand goes on evenly over both.
class LoopBuilder {
 public:
  LoopBuilder(PointwiseArgs& loop, size_t operands) : loop_(loop), operands_(operands) {}

  void add(int64_t size, int64_t out_stride, const int64_t* in_stride) {
    if (size == 1) return;
    if (loop_.dims > 0 && merges(size, out_stride, in_stride))
      loop_.size[loop_.dims - 1] *= size;
    else
      open(size);
    const int last = loop_.dims - 1;
    loop_.out_stride[last] = out_stride;
    for (size_t k = 0; k < operands_; ++k) loop_.in_stride[k][last] = in_stride[k];
  }

  /// Kernels store vectors: the last dimension of the output must be dense.
  void finish() {
    if (loop_.dims > 0 && loop_.out_stride[loop_.dims - 1] == 1) return;
    open(1);
    loop_.out_stride[loop_.dims - 1] = 1;
  }

 private:
  bool merges(int64_t size, int64_t out_stride, const int64_t* in_stride) const {
    const int last = loop_.dims - 1;
    bool even = loop_.out_stride[last] == out_stride * size;
    for (size_t k = 0; k < operands_; ++k) even = even && loop_.in_stride[k][last] == in_stride[k] * size;
    return even;
  }

  void open(int64_t size) {
    ATB_CHECK(loop_.dims < kMaxDims);
    loop_.size[loop_.dims++] = size;
  }

  PointwiseArgs& loop_;
  size_t operands_;
};

}  // namespace

int64_t PointwiseArgs::elements() const noexcept {
  int64_t product = 1;
  for (int d = 0; d < dims; ++d) product *= size[d];
  return product;
}

PointwiseArgs pointwise_loop(float* out, std::span<const int64_t> shape, std::span<const int64_t> strides,
                             std::span<const StridedInput> in) {
  ATB_CHECK(in.size() <= kMaxOperands && shape.size() == strides.size());
  PointwiseArgs loop;
  loop.out = out;
  LoopBuilder builder(loop, in.size());
  for (size_t k = 0; k < in.size(); ++k) {
    ATB_CHECK(in[k].shape.size() <= shape.size());
    loop.in[k] = in[k].data;
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t in_stride[kMaxOperands] = {};
    for (size_t k = 0; k < in.size(); ++k) in_stride[k] = stride_at(in[k], shape.size(), d, shape[d]);
    builder.add(shape[d], strides[d], in_stride);
  }
  builder.finish();
  return loop;
}

}  // namespace atb

#include <atb/error.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "kernels/reference_ops.h"

namespace atb {
namespace {

// A binary float of `bits` significant bits, normal from 2^min_exponent.
struct FloatFormat {
  int bits, min_exponent;
  double max;
};

double round_float(const FloatFormat& format, double x) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int exponent = std::max(std::ilogb(x), format.min_exponent);
  const double unit = std::ldexp(1.0, exponent - format.bits + 1);  // the spacing around x: the products are exact
  const double rounded = std::nearbyint(x / unit) * unit;
  return std::fabs(rounded) > format.max ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

template <class Int>
double round_integer(double x) {
  if (std::isnan(x)) return 0;
  return std::clamp(std::trunc(x), static_cast<double>(std::numeric_limits<Int>::min()),
                    static_cast<double>(std::numeric_limits<Int>::max()));
}

double round_f32(double x) { return round_float({24, -126, 0x1.fffffep127}, x); }
double round_f16(double x) { return round_float({11, -14, 65504}, x); }
double round_bf16(double x) { return round_float({8, -126, 0x1.fep127}, x); }
double keep(double x) { return x; }
double round_bool(double x) { return x != 0; }

// In the order of DType; block formats decode to what they are.
constexpr double (*kRound[])(double) = {round_f32,
                                        round_f16,
                                        round_bf16,
                                        keep,
                                        round_integer<int8_t>,
                                        round_integer<uint8_t>,
                                        round_integer<int16_t>,
                                        round_integer<int32_t>,
                                        round_integer<int64_t>,
                                        round_bool};

}  // namespace

int64_t RefTensor::elements() const { return reference::product(shape, 0, shape.size()); }

void round_to(DType dtype, RefTensor& tensor) {
  tensor.dtype = dtype;
  if (dtype_info(dtype).quantized) return;
  const auto round = kRound[static_cast<size_t>(dtype)];
  for (double& x : tensor.data) x = round(x);
}

namespace reference {

RefTensor zeros(Sizes shape, const RefTensor& like) {
  RefTensor tensor{std::move(shape), {}, like.dtype};
  tensor.data.assign(static_cast<size_t>(tensor.elements()), 0.0);
  return tensor;
}

int64_t product(const Sizes& shape, size_t begin, size_t end) {
  int64_t result = 1;
  for (size_t i = begin; i < end; ++i)
    if (__builtin_mul_overflow(result, shape[i], &result))
      throw Error(ErrorCode::kResources, "the elements of a tensor do not fit into 64 bits");
  return result;
}

Sizes strides_of(const Sizes& shape) {
  Sizes strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

RefTensor strided_copy(const RefTensor& x, Sizes shape, const Sizes& strides, int64_t offset) {
  RefTensor out = zeros(std::move(shape), x);
  Sizes index(out.shape.size(), 0);
  int64_t at = offset;
  for (double& element : out.data) {
    element = x.data[static_cast<size_t>(at)];
    // Count the index up like an odometer, `at` along with it.
    for (size_t axis = index.size(); axis-- > 0;) {
      at += strides[axis];
      if (++index[axis] < out.shape[axis]) break;
      at -= strides[axis] * out.shape[axis];
      index[axis] = 0;
    }
  }
  return out;
}

Sizes broadcast_shape(const Sizes& a, const Sizes& b) {
  const Sizes &longer = a.size() >= b.size() ? a : b, &shorter = a.size() >= b.size() ? b : a;
  Sizes shape = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    int64_t& size = shape[longer.size() - shorter.size() + i];
    if (size == 1) size = shorter[i];
    ATB_CHECK(shorter[i] == size || shorter[i] == 1);
  }
  return shape;
}

RefTensor broadcast_to(const RefTensor& x, const Sizes& shape) {
  if (x.shape == shape) return x;
  const Sizes own = strides_of(x.shape);
  const size_t missing = shape.size() - x.shape.size();
  Sizes strides(shape.size(), 0);
  for (size_t i = 0; i < own.size(); ++i) strides[missing + i] = x.shape[i] == 1 ? 0 : own[i];
  return strided_copy(x, shape, strides);
}

RefTensor for_each_row(const RefTensor& x, const RowFn& row) {
  RefTensor y = zeros(x.shape, x);
  const auto size = static_cast<size_t>(x.shape.back());
  for (size_t start = 0; start < x.data.size(); start += size) row(&x.data[start], &y.data[start], size);
  return y;
}

double mean_square(const double* x, size_t size, double center) {
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += (x[i] - center) * (x[i] - center);
  return sum / static_cast<double>(size);
}

size_t axis_of(const RefTensor& x, int64_t axis) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(x.shape.size()) : axis);
}

int64_t checked_index(double value, int64_t size, const char* what) {
  if (value >= 0 && value < static_cast<double>(size) && value == std::trunc(value)) return static_cast<int64_t>(value);
  throw Error(ErrorCode::kModel,
              std::string(what) + " " + std::to_string(value) + " is outside of 0 to " + std::to_string(size - 1));
}

}  // namespace reference
}  // namespace atb

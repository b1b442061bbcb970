#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/reference_ops.h"

namespace atb::reference {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

// x times a factor in [0, 1] that goes to 0 on the left: there the result is 0, not -inf * 0.
double gated(double x, double factor) { return factor == 0 ? 0.0 : x * factor; }

// x Phi(x) (Hendrycks & Gimpel 2016); erfc keeps the left tail's digits.
double gelu(double x) { return gated(x, 0.5 * std::erfc(-x / std::numbers::sqrt2)); }
// Their tanh approximation: 0.5 x (1 + tanh(u)) = x sigmoid(2 u), which cannot overflow to inf/inf.
double gelu_tanh(double x) {
  const double u = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return gated(x, sigmoid(2 * u));
}
double gelu_quick(double x) { return gated(x, sigmoid(1.702 * x)); }
double silu(double x) { return gated(x, sigmoid(x)); }
double relu(double x) { return x < 0 ? 0.0 : x; }  // NaN stays NaN

double neg(double x) { return -x; }
double rsqrt(double x) { return 1 / std::sqrt(x); }
double square(double x) { return x * x; }
double reciprocal(double x) { return 1 / x; }

// As torch.maximum and torch.minimum: NaN wins.
double maximum(double a, double b) { return std::isnan(a) || a > b ? a : b; }
double minimum(double a, double b) { return std::isnan(a) || a < b ? a : b; }

using UnaryFn = double (*)(double);
using BinaryFn = double (*)(double, double);
// In the order of ActivationKind, UnaryKind and BinaryKind.
constexpr UnaryFn kActivation[] = {gelu, gelu_tanh, gelu_quick, silu, relu, sigmoid, std::tanh};
constexpr UnaryFn kUnary[] = {neg, std::sqrt, rsqrt, std::exp, std::erf, square, reciprocal};
constexpr BinaryFn kBinary[] = {[](double a, double b) { return a - b; }, [](double a, double b) { return a / b; },
                                maximum, minimum, std::pow};

RefTensor map(const RefTensor& x, UnaryFn f) {
  RefTensor y = x;
  std::transform(x.data.begin(), x.data.end(), y.data.begin(), f);
  return y;
}

RefTensor map(const RefTensor& a, const RefTensor& b, BinaryFn f) {
  const Sizes shape = broadcast_shape(a.shape, b.shape);
  RefTensor y = broadcast_to(a, shape);
  const RefTensor right = broadcast_to(b, shape);
  std::transform(y.data.begin(), y.data.end(), right.data.begin(), y.data.begin(), f);
  return y;
}

}  // namespace

RefTensor referenceAdd(const NoAttrs&, const RefInputs& in) {
  return map(*in[0], *in[1], [](double a, double b) { return a + b; });
}

RefTensor referenceMul(const NoAttrs&, const RefInputs& in) {
  return map(*in[0], *in[1], [](double a, double b) { return a * b; });
}

RefTensor referenceBinary(const BinaryAttrs& attrs, const RefInputs& in) {
  return map(*in[0], *in[1], kBinary[static_cast<size_t>(attrs.kind)]);
}

RefTensor referenceUnary(const UnaryAttrs& attrs, const RefInputs& in) {
  return map(*in[0], kUnary[static_cast<size_t>(attrs.kind)]);
}

RefTensor referenceActivation(const ActivationAttrs& attrs, const RefInputs& in) {
  return map(*in[0], kActivation[static_cast<size_t>(attrs.kind)]);
}

// A cast is a rounding point in every mode.
RefTensor referenceCast(const CastAttrs& attrs, const RefInputs& in) {
  RefTensor y = *in[0];
  round_to(attrs.dtype, y);
  return y;
}

RefTensor referenceWhere(const NoAttrs&, const RefInputs& in) {
  const Sizes shape = broadcast_shape(in[0]->shape, broadcast_shape(in[1]->shape, in[2]->shape));
  const RefTensor condition = broadcast_to(*in[0], shape), b = broadcast_to(*in[2], shape);
  RefTensor y = broadcast_to(*in[1], shape);
  for (size_t i = 0; i < y.data.size(); ++i)
    if (condition.data[i] == 0) y.data[i] = b.data[i];
  return y;
}

}  // namespace atb::reference

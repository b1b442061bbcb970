#include <algorithm>
#include <cmath>

#include "kernels/reference_ops.h"

namespace atb::reference {
namespace {

constexpr double kLargest = 127;  // of a symmetric int8

void quantize_group(const double* x, double* y, size_t size) {
  double top = 0;
  for (size_t i = 0; i < size; ++i) top = std::max(top, std::fabs(x[i]));
  if (top == 0) return;
  const double scale = top / kLargest;
  for (size_t i = 0; i < size; ++i) y[i] = scale * std::nearbyint(x[i] / scale);
}

}  // namespace

// y = s round(x / s), s = max |x| / 127, group by group along the last axis.
RefTensor referenceQuantize(const QuantizeAttrs& attrs, const RefInputs& in) {
  return for_each_row(*in[0], [&](const double* x, double* y, size_t size) {
    const size_t group = attrs.group == 0 ? size : static_cast<size_t>(attrs.group);
    for (size_t begin = 0; begin < size; begin += group)
      quantize_group(x + begin, y + begin, std::min(group, size - begin));
  });
}

}  // namespace atb::reference

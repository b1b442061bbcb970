#include <algorithm>
#include <cmath>

#include "kernels/reference_ops.h"

namespace atb::reference {
namespace {

void softmax_row(const double* x, double* y, size_t size) {
  const auto masked = [](double v) { return v == -HUGE_VAL; };
  if (std::all_of(x, x + size, masked)) return;  // a fully masked row is zeros
  const double top = *std::max_element(x, x + size);
  double sum = 0;
  for (size_t i = 0; i < size; ++i) sum += y[i] = std::exp(x[i] - top);
  for (size_t i = 0; i < size; ++i) y[i] /= sum;
}

}  // namespace

// y = exp(x - max x) / sum exp(x - max x) over the last axis.
RefTensor referenceSoftmax(const NoAttrs&, const RefInputs& in) { return for_each_row(*in[0], softmax_row); }

}  // namespace atb::reference

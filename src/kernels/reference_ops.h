// What the reference operators share. Each has one function here, named after its line of ops.inc.
#pragma once

#include <functional>

#include "kernels/reference.h"

namespace atb::reference {

#define ATB_OP(id, name, attrs, min_inputs, max_inputs, kind) RefTensor reference##id(const attrs&, const RefInputs&);
#include <atb/ops.inc>
#undef ATB_OP

using Sizes = std::vector<int64_t>;

/// Zeros of that shape, with the dtype of `like`.
RefTensor zeros(Sizes shape, const RefTensor& like);

/// Product of sizes [begin, end) of a shape.
int64_t product(const Sizes& shape, size_t begin, size_t end);

/// Row-major strides, in elements.
Sizes strides_of(const Sizes& shape);

/// out[i0, i1, ...] = x.data[offset + i0*strides[0] + i1*strides[1] + ...]: every view is one of these.
RefTensor strided_copy(const RefTensor& x, Sizes shape, const Sizes& strides, int64_t offset = 0);

/// NumPy broadcasting of shapes that inference accepted.
Sizes broadcast_shape(const Sizes& a, const Sizes& b);
RefTensor broadcast_to(const RefTensor& x, const Sizes& shape);

/// Calls row(x, y, size) for each row of the last axis; y starts as zeros.
using RowFn = std::function<void(const double* x, double* y, size_t size)>;
RefTensor for_each_row(const RefTensor& x, const RowFn& row);

/// mean((x - center)²)
double mean_square(const double* x, size_t size, double center);

/// The weight or bias of a norm at element i: one per element of the row, or one for all.
inline double weight_at(const RefTensor& weight, size_t i) { return weight.data[weight.data.size() == 1 ? 0 : i]; }

/// The place of an axis that may count from the end.
size_t axis_of(const RefTensor& x, int64_t axis);

/// An index value of an integer tensor, checked against [0, size). Error{kModel}.
int64_t checked_index(double value, int64_t size, const char* what);

}  // namespace atb::reference

#include <algorithm>

#include "kernels/reference_ops.h"

namespace atb::reference {
namespace {

// Appends row `row` of a matrix of rows of `width` elements that starts at `data`.
void append_row(const double* data, int64_t row, int64_t width, RefTensor& out) {
  out.data.insert(out.data.end(), data + row * width, data + (row + 1) * width);
}

}  // namespace

// y[..., t, :] = table[ids[..., t], :]
RefTensor referenceEmbedding(const NoAttrs&, const RefInputs& in) {
  const RefTensor &table = *in[0], &ids = *in[1];
  RefTensor y{ids.shape, {}, table.dtype};
  y.shape.push_back(table.shape[1]);
  for (const double id : ids.data)
    append_row(table.data.data(), checked_index(id, table.shape[0], "token id"), table.shape[1], y);
  return y;
}

// y[..., n, :] = x[..., indices[n], :]
RefTensor referenceTakeRows(const NoAttrs&, const RefInputs& in) {
  const RefTensor &x = *in[0], &indices = *in[1];
  const size_t rank = x.shape.size();
  const int64_t rows = x.shape[rank - 2], width = x.shape[rank - 1];
  RefTensor y{x.shape, {}, x.dtype};
  y.shape[rank - 2] = indices.shape[0];
  for (int64_t b = 0; b < product(x.shape, 0, rank - 2); ++b)
    for (const double index : indices.data)
      append_row(x.data.data() + b * rows * width, checked_index(index, rows, "row"), width, y);
  return y;
}

}  // namespace atb::reference

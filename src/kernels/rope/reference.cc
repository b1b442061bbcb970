#include <cmath>

#include "ir/infer.h"
#include "kernels/reference_ops.h"

namespace atb::reference {
namespace {

// Turns the pairs of one head at one position (Su et al. 2021, equation 34). Pair p is (x[p], x[p + rotary_dim/2]) or,
// interleaved, (x[2p], x[2p + 1]).
void turn_head(const RopeAttrs& attrs, const RopeTable& table, double position, double* x) {
  const int64_t pairs = attrs.rotary_dim / 2;
  const bool half = attrs.pairing == RopePairing::kHalf;
  for (int64_t p = 0; p < pairs; ++p) {
    const double angle = position * table.inverse_frequency[static_cast<size_t>(p)];
    const double c = std::cos(angle) * table.attention_factor, s = std::sin(angle) * table.attention_factor;
    double &a = x[half ? p : 2 * p], &b = x[half ? p + pairs : 2 * p + 1];
    const double turned = a * c - b * s;
    b = a * s + b * c;
    a = turned;
  }
}

// The same with a cosine and a sine per component.
void turn_head(const RopeAttrs& attrs, const double* cos, const double* sin, double* x) {
  const int64_t pairs = attrs.rotary_dim / 2;
  const bool half = attrs.pairing == RopePairing::kHalf;
  for (int64_t p = 0; p < pairs; ++p) {
    const int64_t i = half ? p : 2 * p, j = half ? p + pairs : 2 * p + 1;
    const double a = x[i], b = x[j];
    x[i] = a * cos[i] - b * sin[i];
    x[j] = b * cos[j] + a * sin[j];
  }
}

RefTensor rope_by_tables(const RopeAttrs& attrs, const RefInputs& in) {
  RefTensor y = *in[0];
  Sizes rows = y.shape;
  const int64_t width = rows.back();
  rows.back() = attrs.rotary_dim;
  const RefTensor cos = broadcast_to(*in[1], rows), sin = broadcast_to(*in[2], rows);
  for (int64_t row = 0; row < product(rows, 0, rows.size() - 1); ++row)
    for (int64_t head = 0; head < width; head += attrs.head_dim)
      turn_head(attrs, cos.data.data() + row * attrs.rotary_dim, sin.data.data() + row * attrs.rotary_dim,
                y.data.data() + row * width + head);
  return y;
}

}  // namespace

RefTensor referenceRope(const RopeAttrs& attrs, const RefInputs& in) {
  if (attrs.tables) return rope_by_tables(attrs, in);
  RefTensor y = *in[0];
  RopeTable table = rope_table(attrs);
  if (in.size() > 2)
    for (size_t p = 0; p < table.inverse_frequency.size(); ++p) table.inverse_frequency[p] /= in[2]->data[p];
  const Sizes rows(y.shape.begin(), y.shape.end() - 1);
  const RefTensor positions = broadcast_to(*in[1], rows);
  const int64_t width = y.shape.back();
  for (size_t row = 0; row < positions.data.size(); ++row)
    for (int64_t head = 0; head < width; head += attrs.head_dim)
      turn_head(attrs, table, positions.data[row], y.data.data() + static_cast<int64_t>(row) * width + head);
  return y;
}

}  // namespace atb::reference

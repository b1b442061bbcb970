// Scores and values; the equations and policies are stated at ScoresAttrs and ValuesAttrs.
#include <cmath>
#include <limits>

#include "ir/infer.h"
#include "kernels/reference_ops.h"

namespace atb::reference {
namespace {

// The lowest finite number of a mask's dtype: frameworks write it for "masked out".
double lowest(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return -65504;
    case DType::kBF16:
      return -0x1.fep127;
    case DType::kF32:
      return std::numeric_limits<float>::lowest();
    default:
      return std::numeric_limits<double>::lowest();
  }
}

// What mask, ALiBi, causality and window add to the score of one query and key: -inf where the key is not seen.
class Mask {
 public:
  Mask(const ScoresAttrs& attrs, const RefInputs& in, const Sizes& scores)
      : attrs_(attrs), lowest_(0), slopes_(alibi_slopes(attrs.alibi ? attrs.heads : 0)) {
    if (attrs.mask == MaskKind::kNone) return;
    mask_ = broadcast_to(*in[2], scores);
    lowest_ = lowest(in[2]->dtype);
  }

  /// `score` is the place of the score in the result; `distance` how far the key stands after the query.
  double term(int64_t score, int64_t head, int64_t distance) const {
    const bool future = attrs_.causal && distance > 0;
    const bool past = attrs_.window > 0 && distance <= -attrs_.window;  // window W counts the current token
    if (future || past) return -HUGE_VAL;
    const double bias = attrs_.alibi ? slopes_[static_cast<size_t>(head)] * static_cast<double>(distance) : 0.0;
    return bias + mask_term(score);
  }

 private:
  double mask_term(int64_t score) const {
    if (attrs_.mask == MaskKind::kNone) return 0;
    const double value = mask_.data[static_cast<size_t>(score)];
    if (attrs_.mask == MaskKind::kBool) return value != 0 ? 0.0 : -HUGE_VAL;
    return value <= lowest_ ? -HUGE_VAL : value;
  }

  const ScoresAttrs& attrs_;
  double lowest_;
  std::vector<double> slopes_;
  RefTensor mask_;
};

double dot(const double* a, const double* b, int64_t size) {
  double sum = 0;
  for (int64_t i = 0; i < size; ++i) sum += a[i] * b[i];
  return sum;
}

double softcapped(double score, double cap) { return cap > 0 ? cap * std::tanh(score / cap) : score; }

}  // namespace

RefTensor referenceScores(const ScoresAttrs& a, const RefInputs& in) {
  const RefTensor &q = *in[0], &k = *in[1];
  const size_t lead = q.shape.size() - 2;
  const int64_t batch = product(q.shape, 0, lead), tq = q.shape[lead], tk = k.shape[lead];
  Sizes shape(q.shape.begin(), q.shape.end() - 2);
  shape.insert(shape.end(), {a.heads, tq, tk});
  RefTensor s = zeros(std::move(shape), q);
  const Mask mask(a, in, s.shape);
  for (int64_t at = 0; at < batch * a.heads * tq * tk; ++at) {
    const int64_t j = at % tk, i = at / tk % tq, h = at / (tk * tq) % a.heads, b = at / (tk * tq * a.heads);
    const double* qi = &q.data[static_cast<size_t>(((b * tq + i) * a.heads + h) * a.head_dim)];
    const int64_t kv_head = h / (a.heads / a.kv_heads);
    const double* kj = &k.data[static_cast<size_t>(((b * tk + j) * a.kv_heads + kv_head) * a.head_dim)];
    const double term = mask.term(at, h, j - (i + tk - tq));  // bottom-right: the last query stands at the last key
    const double score = softcapped(a.scale * dot(qi, kj, a.head_dim), a.softcap);
    s.data[static_cast<size_t>(at)] =
        term == -HUGE_VAL ? term : score + term;  // a masked NaN must not reach the result
  }
  return s;
}

RefTensor referenceValues(const ValuesAttrs& a, const RefInputs& in) {
  const RefTensor &p = *in[0], &v = *in[1];
  const size_t lead = v.shape.size() - 2;
  const int64_t batch = product(v.shape, 0, lead), tk = v.shape[lead], tq = p.shape[lead + 1];
  Sizes shape(v.shape.begin(), v.shape.end() - 2);
  shape.insert(shape.end(), {tq, a.heads * a.head_dim});
  RefTensor o = zeros(std::move(shape), p);
  for (int64_t at = 0; at < batch * a.heads * tq * tk; ++at) {
    const double weight = p.data[static_cast<size_t>(at)];
    if (weight == 0) continue;
    const int64_t j = at % tk, i = at / tk % tq, h = at / (tk * tq) % a.heads, b = at / (tk * tq * a.heads);
    const int64_t kv_head = h / (a.heads / a.kv_heads);
    const double* vj = &v.data[static_cast<size_t>(((b * tk + j) * a.kv_heads + kv_head) * a.head_dim)];
    double* oi = &o.data[static_cast<size_t>(((b * tq + i) * a.heads + h) * a.head_dim)];
    for (int64_t d = 0; d < a.head_dim; ++d) oi[d] += weight * vj[d];
  }
  return o;
}

}  // namespace atb::reference

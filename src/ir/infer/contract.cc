// Matrix products: matmul, and the two of attention.
#include <cmath>

#include "ir/infer/rules.h"
#include "ir/value_rules.h"

namespace atb::infer_rules {
namespace {

void check_heads(int64_t heads, int64_t kv_heads, int64_t head_dim) {
  if (heads <= 0 || kv_heads <= 0 || head_dim <= 0 || heads % kv_heads != 0) {
    refuse("heads = " + std::to_string(heads) + ", kv_heads = " + std::to_string(kv_heads) +
               ", head_dim = " + std::to_string(head_dim),
           "all must be > 0, and heads a multiple of kv_heads");
  }
}

// heads * head_dim features in the last axis.
void check_features(const Value& value, const char* role, int64_t heads, int64_t head_dim) {
  need_floating(value, role);
  need_rank(value, role, 2);
  const Dim expected = Dim(heads) * head_dim;
  if (value.shape.back() != expected)
    refuse(std::string(role) + " is " + describe(value) + ", expected " + expected.to_string() + " features");
}

void need_same_leading(const Value& a, size_t a_tail, const Value& b, size_t b_tail) {
  if (leading(a, a_tail) != leading(b, b_tail))
    refuse("leading dimensions differ: " + describe(a) + ", " + describe(b));
}

void check_matmul_weight(const Value& w, WeightLayout layout) {
  const bool blocks = dtype_info(w.dtype).quantized;
  if (!blocks) need_floating(w, "weight");
  if (blocks && layout != WeightLayout::kOutIn)
    refuse("weight is " + describe(w) + ", whose blocks do not run along K", "block formats need layout out_in");
  need_rank(w, "weight", 2);
}

void check_mask(const ScoresAttrs& attrs, Operands in, const Shape& scores) {
  const bool given = in.size() > 2;
  if (given != (attrs.mask != MaskKind::kNone)) refuse("a third input and mask = bool or additive go together");
  if (!given) return;
  const Value& mask = *in[2];
  const bool fits = attrs.mask == MaskKind::kBool ? mask.dtype == DType::kBool : dtype_info(mask.dtype).floating;
  if (!fits) refuse("mask is " + describe(mask) + ", which is not of the kind named by `mask`");
  if (!broadcasts_to(mask.shape, scores))
    refuse("mask " + describe(mask) + " does not broadcast to the scores " + to_string(scores));
}

}  // namespace

Inferred inferMatMul(const MatMulAttrs& attrs, Operands in) {
  const Value &x = *in[0], &w = *in[1];
  need_floating(x, "x");
  check_matmul_weight(w, attrs.layout);
  const bool batched = w.shape.size() > 2;
  need_rank(x, "x", batched ? w.shape.size() : 1);
  if (batched) need_same_leading(x, 2, w, 2);
  const bool out_in = attrs.layout == WeightLayout::kOutIn;
  const Dim &k = dim_from_end(w, out_in ? 0 : 1), &n = dim_from_end(w, out_in ? 1 : 0);
  if (x.shape.back() != k) refuse("inner sizes differ: x is " + describe(x) + ", weight " + describe(w));
  Shape shape = leading(x, 1);
  shape.push_back(n);
  return {x.dtype, shape};
}

Inferred inferScores(const ScoresAttrs& attrs, Operands in) {
  const Value &q = *in[0], &k = *in[1];
  check_heads(attrs.heads, attrs.kv_heads, attrs.head_dim);
  check_features(q, "q", attrs.heads, attrs.head_dim);
  check_features(k, "k", attrs.kv_heads, attrs.head_dim);
  need_same_leading(q, 2, k, 2);
  need(std::isfinite(attrs.scale), "scale must be finite");
  need(std::isfinite(attrs.softcap) && attrs.softcap >= 0, "softcap must be a number >= 0");
  need(attrs.window >= 0, "window must be >= 0");
  need(attrs.window == 0 || attrs.causal, "a window needs causal = true");
  Shape shape = leading(q, 2);
  shape.insert(shape.end(), {attrs.heads, dim_from_end(q, 1), dim_from_end(k, 1)});
  check_mask(attrs, in, shape);
  return {q.dtype, shape};
}

Inferred inferValues(const ValuesAttrs& attrs, Operands in) {
  const Value &p = *in[0], &v = *in[1];
  check_heads(attrs.heads, attrs.kv_heads, attrs.head_dim);
  need_floating(p, "p");
  need_rank(p, "p", 3);
  check_features(v, "v", attrs.kv_heads, attrs.head_dim);
  need_same_leading(p, 3, v, 2);
  if (dim_from_end(p, 2) != Dim(attrs.heads) || dim_from_end(p, 0) != dim_from_end(v, 1))
    refuse("p " + describe(p) + " does not fit v " + describe(v) + " with " + std::to_string(attrs.heads) + " heads");
  Shape shape = leading(p, 3);
  shape.insert(shape.end(), {dim_from_end(p, 1), Dim(attrs.heads) * attrs.head_dim});
  return {p.dtype, shape};
}

}  // namespace atb::infer_rules

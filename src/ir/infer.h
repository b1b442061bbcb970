// Shape and dtype inference, one function per operator, found through ops.inc.
#pragma once

#include <atb/graph.h>

namespace atb {

struct Inferred {
  DType dtype;
  Shape shape;
};
/// Error{kModel} that says which input does not fit and why.
Inferred infer(Op op, const Attrs& attrs, std::span<const Value* const> inputs);

/// Inverse frequencies [rotary_dim/2] of a RopeAttrs, scaling included, and the factor on cos and sin.
struct RopeTable {
  std::vector<double> inverse_frequency;
  double attention_factor;
};
RopeTable rope_table(const RopeAttrs& attrs);

/// ALiBi slopes for any number of heads (Press et al. 2022, and its published rule for non-powers of two).
std::vector<double> alibi_slopes(int64_t heads);

}  // namespace atb

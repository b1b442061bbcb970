// Views, data movement and reductions.
#include <algorithm>

#include "ir/infer/rules.h"
#include "ir/value_rules.h"

namespace atb::infer_rules {
namespace {

void need_plain(const Value& value) {
  if (dtype_info(value.dtype).quantized) refuse("x is " + describe(value) + ", whose blocks cannot be moved");
}

// The number of elements in the dimensions that a reshape does not take over.
int64_t product(int64_t a, const Dim& dim, const Value& x) {
  int64_t result;
  if (!dim.is_constant())
    refuse("the symbolic sizes of " + describe(x) + " must stay at their place", "write -1 there");
  if (__builtin_mul_overflow(a, dim.constant(), &result)) refuse("the sizes do not fit into 64 bits");
  return result;
}

}  // namespace

Inferred inferReduce(const ReduceAttrs& attrs, Operands in) {
  need_floating(*in[0], "x");
  Shape shape = in[0]->shape;
  shape[axis_of(*in[0], attrs.axis)] = 1;
  return {in[0]->dtype, shape};
}

Inferred inferReshape(const ReshapeAttrs& attrs, Operands in) {
  const Value& x = *in[0];
  need_plain(x);
  Shape shape;
  int64_t before = 1, after = 1;
  for (size_t i = 0; i < attrs.shape.size(); ++i) {
    const int64_t wanted = attrs.shape[i];
    need(wanted >= -1, "a size is " + std::to_string(wanted));
    need(wanted != -1 || i < x.shape.size(), "-1 stands where " + describe(x) + " has no dimension");
    shape.push_back(wanted == -1 ? x.shape[i] : Dim(wanted));
    if (wanted != -1) after = product(after, wanted, x);
  }
  for (size_t i = 0; i < x.shape.size(); ++i)
    if (i >= attrs.shape.size() || attrs.shape[i] != -1) before = product(before, x.shape[i], x);
  if (before != after) refuse(describe(x) + " does not have the elements of " + to_string(shape));
  return {x.dtype, shape};
}

Inferred inferTranspose(const TransposeAttrs& attrs, Operands in) {
  const Value& x = *in[0];
  need_plain(x);
  std::vector<int64_t> sorted = attrs.permutation;
  std::sort(sorted.begin(), sorted.end());
  bool complete = sorted.size() == x.shape.size();
  for (size_t i = 0; complete && i < sorted.size(); ++i) complete = sorted[i] == static_cast<int64_t>(i);
  need(complete, "permutation does not name each axis of " + describe(x) + " once");
  Shape shape;
  for (const int64_t axis : attrs.permutation) shape.push_back(x.shape[static_cast<size_t>(axis)]);
  return {x.dtype, shape};
}

Inferred inferSlice(const SliceAttrs& attrs, Operands in) {
  const Value& x = *in[0];
  need_plain(x);
  const size_t axis = axis_of(x, attrs.axis);
  need(x.shape[axis].is_constant(), "the sliced axis of " + describe(x) + " is symbolic");
  need(attrs.step >= 1, "step must be >= 1");
  if (attrs.start < 0 || attrs.end < attrs.start || attrs.end > x.shape[axis].constant()) {
    refuse("elements " + std::to_string(attrs.start) + " to " + std::to_string(attrs.end) + " are not inside axis " +
           std::to_string(axis) + " of " + describe(x));
  }
  Shape shape = x.shape;
  const int64_t length = attrs.end - attrs.start;
  shape[axis] = length / attrs.step + (length % attrs.step != 0);
  return {x.dtype, shape};
}

Inferred inferConcat(const ConcatAttrs& attrs, Operands in) {
  const Value& first = *in[0];
  const size_t axis = axis_of(first, attrs.axis);
  need_plain(first);
  Shape shape = first.shape;
  for (const Value* next : in.subspan(1)) {
    need_same_dtype(first, *next);
    need(next->shape.size() == shape.size(), "ranks differ: " + describe(first) + ", " + describe(*next));
    for (size_t i = 0; i < shape.size(); ++i)
      need(i == axis || next->shape[i] == shape[i], "sizes differ: " + describe(first) + ", " + describe(*next));
    shape[axis] = shape[axis] + next->shape[axis];
  }
  return {first.dtype, shape};
}

Inferred inferRepeat(const RepeatAttrs& attrs, Operands in) {
  need_plain(*in[0]);
  need(attrs.times >= 1, "times must be >= 1");
  Shape shape = in[0]->shape;
  Dim& dim = shape[axis_of(*in[0], attrs.axis)];
  dim = dim * attrs.times;
  return {in[0]->dtype, shape};
}

}  // namespace atb::infer_rules

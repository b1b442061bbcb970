// The oracle: every operator computed plainly in fp64, and a graph run with them. src/kernels/<op>/reference.cc holds
// each operator's function; they state the mathematics and nothing else.
#pragma once

#include <atb/graph.h>

#include <map>
#include <string>
#include <vector>

namespace atb {

/// A dense row-major tensor of doubles. Values of a narrower dtype are stored as the doubles they stand for; block
/// formats as what they decode to.
struct RefTensor {
  std::vector<int64_t> shape;
  std::vector<double> data;
  DType dtype = DType::kF32;  ///< what the values stand for; matters where an operator rounds or reads a mask

  int64_t elements() const;  ///< product of the shape; Error{kResources} beyond 64 bits
};
using RefInputs = std::vector<const RefTensor*>;

/// Computes one node, in fp64 and without rounding its result. Attributes and inputs are what shape inference accepts.
using ReferenceFn = RefTensor (*)(const Attrs& attrs, const RefInputs& inputs);
ReferenceFn reference_of(Op op);

/// Rounds every element once to what `dtype` can hold: floats to nearest even with overflow to infinity, integers
/// towards zero with saturation, bool to 0 or 1. Block formats: no change.
void round_to(DType dtype, RefTensor& tensor);

/// Where results are rounded to their dtype: everywhere (as an executor that stores every value), or only at casts.
enum class Rounding { kEveryValue, kCastsOnly };

struct ReferenceResult {
  std::map<std::string, RefTensor> outputs;
  std::map<std::string, RefTensor> states;  ///< grown by kv_append
};
/// Runs a graph. `bindings` holds inputs, params and states by outside name; symbols are read off the shapes, dtypes
/// are the graph's. Error{kModel} names a missing binding or a shape that does not fit.
ReferenceResult run_reference(const Graph& graph, const std::map<std::string, RefTensor>& bindings,
                              Rounding rounding = Rounding::kCastsOnly);

}  // namespace atb

// The oracle: every operator computed plainly in fp64, and a graph run with them. src/kernels/<op>/reference.cc holds
// each operator's function; they state the mathematics and nothing else.
#pragma once

#include <atb/graph.h>

#include <map>
#include <string>
#include <vector>

namespace atb {

/// A dense row-major tensor of doubles. Values of a narrower dtype are stored as the doubles they stand for.
struct RefTensor {
  std::vector<int64_t> shape;
  std::vector<double> data;

  int64_t elements() const;
};

/// Computes one node. `dtype` is the dtype of the result: when `round` is set, each result is rounded to it once.
using ReferenceFn = RefTensor (*)(const Attrs& attrs, const std::vector<const RefTensor*>& inputs);
ReferenceFn reference_of(Op op);

/// Rounds every element to what `dtype` can hold (round to nearest even).
void round_to(DType dtype, RefTensor& tensor);

/// Where results are rounded to their dtype: everywhere (as an executor that stores every value), or only at casts.
enum class Rounding { kEveryValue, kCastsOnly };

struct ReferenceResult {
  std::map<std::string, RefTensor> outputs;
  std::map<std::string, RefTensor> states;  ///< grown by kv_append
};
/// Runs a graph. `bindings` holds inputs, params and states by outside name; symbols are read off the shapes.
/// Error{kModel} names a missing binding or a shape that does not fit.
ReferenceResult run_reference(const Graph& graph, const std::map<std::string, RefTensor>& bindings,
                              Rounding rounding = Rounding::kCastsOnly);

}  // namespace atb

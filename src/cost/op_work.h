// Arithmetic of one operator: matrix operations and the rest.
#pragma once

#include <atb/graph.h>

namespace atb {

struct OpWork {
  double cube_ops = 0;    ///< a multiply-add counts two
  double vector_ops = 0;  ///< an exponential counts 12, a division 4 (op_work.cc)
  DType cube_dtype = DType::kF32;
};

/// Elements of a value under the workload; an unknown symbol counts as `tokens`.
double element_count(const Value& value, const SymbolValues& symbols);
double dim_size(const Dim& dim, const SymbolValues& symbols);

OpWork op_work(const Graph& graph, const Node& node, const SymbolValues& symbols);

}  // namespace atb

// A plan binds a graph to this machine: every node becomes a step with its kernel, weights are packed, activations get
// offsets in one arena. Nothing here knows an architecture: the graph says it all.
#pragma once

#include <atb/fusion.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/options.h"
#include "io/model_file.h"
#include "runtime/kv_cache.h"
#include "runtime/thread_pool.h"

namespace atb {

struct PlanOptions {
  IsaSet isas;
  Precision precision = Precision::kDefault;
  DType kv_dtype = DType::kF16;  ///< f32, f16 or bf16; the dtype of the graph's states
  int64_t max_rows = 256;        ///< most rows of one step: the prefill block
  int64_t max_context = 2048;    ///< most tokens of one sequence
};

/// Finds the tensor behind a param of the graph (by the param's outside name). The data must stay valid as long as the
/// plan: embeddings are read from it row by row.
using TensorLookup = std::function<TensorInfo(const std::string& param)>;

/// One launch of a plan, for reports: an operator, its kernel and its path, or a region's name, the kernels of its
/// stages ("rms_norm/avx512 + matmul_q4/avx512_vnni + ...", each once) and its layer.
struct StepInfo {
  std::string op, kernel, path;
};

class Plan {
 public:
  /// Verifies the graph, packs the weights on `pool`, chooses kernels. Error{kModel} names the node or tensor that does
  /// not fit, Error{kResources} says how much memory is missing. Each region of nodes (disjoint, as fuse() chooses them
  /// for this graph) becomes one launch; results are the same bits as without.
  static std::unique_ptr<Plan> build(Graph graph, const TensorLookup& tensors, const PlanOptions& options,
                                     ThreadPool& pool, const std::vector<Region>& regions = {});
  ~Plan();

  const Graph& graph() const noexcept;
  const PlanOptions& options() const noexcept;
  const std::vector<StateSpec>& states() const noexcept;
  const std::vector<StepInfo>& steps() const noexcept;
  const std::string& cube() const noexcept;       ///< the matrix path of most weights: "avx512_vnni int8"
  const std::string& precision() const noexcept;  ///< what really runs: "int8 groups of 32, fp32 accumulation"
  size_t weight_bytes() const noexcept;
  size_t arena_bytes() const noexcept;

  struct Impl;
  Impl& impl() noexcept { return *impl_; }

 private:
  explicit Plan(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace atb

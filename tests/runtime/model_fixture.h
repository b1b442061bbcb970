// A decoder small enough for the fp64 reference, with random weights in any dtype.
#pragma once

#include <atb/graph.h>

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/reference.h"
#include "runtime/executor.h"

namespace atb::test {

struct SmallModelOptions {
  DType weights = DType::kF32;
  DType kv = DType::kF32;
  int layers = 2;
};

/// Weights [out, in], norms [hidden]; hidden 64, 4 query and 2 KV heads of 16, intermediate 96, 50 tokens.
class SmallModel {
 public:
  static constexpr int64_t kVocabulary = 50, kLongestSum = 96;

  explicit SmallModel(const SmallModelOptions& options);
  const Graph& graph() const { return graph_; }
  TensorLookup lookup() const;
  /// The reference's logits of every token, all in one step without a cache.
  std::vector<double> reference(const Graph& graph, std::span<const int32_t> tokens) const;
  std::vector<double> reference(std::span<const int32_t> tokens) const { return reference(graph_, tokens); }
  int matmul_depth() const { return 4 * options_.layers + 1; }  ///< matmuls on the longest path

 private:
  ValueId weight(const std::string& name, Shape shape, DType dtype);
  ValueId layer(ValueId x, int index);
  ValueId attention_part(ValueId x, const std::string& path);

  SmallModelOptions options_;
  Graph graph_;
  std::map<std::string, TensorInfo> tensors_;
  std::map<std::string, std::vector<std::byte>> data_;
  uint32_t random_ = 1;
  ValueId positions_ = kNoValue;
};

/// `count` token ids.
std::vector<int32_t> random_tokens(size_t count, uint32_t seed = 7);

struct RunOptions {
  int threads = 2;
  int64_t block = 70;  ///< tokens per step
  Precision precision = Precision::kDefault;
  std::optional<Isa> max_isa = {};
  std::vector<Region> regions = {};
};

/// A plan with its pool and an executor.
struct Runner {
  Runner(const Graph& graph, const SmallModel& model, DType kv, const RunOptions& options);
  KvCache cache() const { return KvCache(plan->states(), 200); }
  /// Logits of every token, fed in blocks.
  std::vector<float> logits(std::span<const int32_t> tokens);

  RunOptions options;
  ThreadPool pool;
  std::unique_ptr<Plan> plan;
  Executor executor;
};

}  // namespace atb::test

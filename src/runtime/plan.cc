#include "runtime/plan.h"

#include <atb/error.h>

#include <algorithm>
#include <limits>

#include "runtime/lowering.h"

namespace atb {
namespace {

void check_option(const char* name, int64_t value) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  if (value < 1 || value > kMost)
    throw Error(ErrorCode::kUsage, std::string(name) + " is " + std::to_string(value), "plan options",
                "use 1 to " + std::to_string(kMost));
}

}  // namespace

Plan::Impl::Impl(Graph g, const PlanOptions& o) : graph(std::move(g)), options(o) {
  std::fill(std::begin(input_limits), std::end(input_limits), std::numeric_limits<int64_t>::max());
}

Plan::Plan(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Plan::~Plan() = default;

std::unique_ptr<Plan> Plan::build(Graph graph, const TensorLookup& tensors, const PlanOptions& options,
                                  ThreadPool& pool, const std::vector<Region>& regions) {
  check_option("max_rows", options.max_rows);
  check_option("max_context", options.max_context);
  if (options.kv_dtype != DType::kF32 && options.kv_dtype != DType::kF16 && options.kv_dtype != DType::kBF16)
    throw Error(ErrorCode::kUsage, std::string("a KV cache of ") + dtype_name(options.kv_dtype), "plan options",
                "use f32, f16 or bf16");
  graph.verify();
  auto impl = std::make_unique<Impl>(std::move(graph), options);
  Lowering(*impl, tensors).run(regions);
  make_schedules(*impl, pool.threads());
  impl->weights.pack(pool);
  return std::unique_ptr<Plan>(new Plan(std::move(impl)));
}

const Graph& Plan::graph() const noexcept { return impl_->graph; }
const PlanOptions& Plan::options() const noexcept { return impl_->options; }
const std::vector<StateSpec>& Plan::states() const noexcept { return impl_->states; }
const std::vector<StepInfo>& Plan::steps() const noexcept { return impl_->infos; }
const std::string& Plan::cube() const noexcept { return impl_->cube; }
const std::string& Plan::precision() const noexcept { return impl_->precision; }
size_t Plan::weight_bytes() const noexcept { return impl_->weights.bytes(); }

size_t Plan::arena_bytes() const noexcept {
  size_t most = 0;
  for (const Schedule& s : impl_->schedules) most = std::max(most, s.shared_bytes + s.private_bytes);
  return most;
}

}  // namespace atb

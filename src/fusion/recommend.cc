#include "fusion/recommend.h"

#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/log.h"
#include "fusion/fuse.h"

namespace atb {
namespace {

constexpr int64_t kAssumedTokens = 512, kShort = 512, kLong = 2048;
constexpr double kLowLatencyMs = 100, kManyQueries = 100;

enum class Choice { kNormOnly, kAttention, kMlp, kBoth, kNone };

struct ChoiceOptions {
  Choice choice;
  const char* name;
  bool fusion, mlp, attention;
};
constexpr ChoiceOptions kChoices[] = {{Choice::kBoth, "MLP and attention", true, true, true},
                                      {Choice::kAttention, "attention only", true, false, true},
                                      {Choice::kMlp, "MLP only", true, true, false},
                                      {Choice::kNormOnly, "LayerNorm only", true, false, false},
                                      {Choice::kNone, "no fusion", false, false, false}};

const ChoiceOptions& row_of(Choice choice) {
  return *std::find_if(std::begin(kChoices), std::end(kChoices), [&](auto& row) { return row.choice == choice; });
}

FusionOptions options_of(Choice choice) {
  const ChoiceOptions& row = row_of(choice);
  return {.fusion = row.fusion,
          .mlp = row.mlp,
          .attention = row.attention,
          .layernorm = row.fusion,
          .bias = row.mlp || row.attention,
          .disable = {}};
}

/// What the lines of the table ask.
struct Task {
  const RecommendRequest& request;
  const Graph& graph;
  std::span<const NodeId> mlp;
  const DeviceProfile& profile;

  int64_t tokens() const { return request.seq_len > 0 ? request.seq_len : kAssumedTokens; }
  Workload workload() const { return {.tokens = tokens(), .past = 0, .batch = request.batch}; }
};

/// How long one call takes with those switches.
double predicted_seconds(const Task& task, Choice choice) {
  const FusionResult fused = fuse(task.graph, {options_of(choice), task.profile, task.workload()});
  std::vector<std::vector<NodeId>> regions;
  for (const Region& region : fused.regions) regions.push_back(region.nodes);
  return CostModel(task.graph, task.workload(), task.profile).graph(regions).total.seconds;
}

Choice between(const Task& task) {
  const Capacity capacity = region_capacity(task.graph, task.mlp, task.workload(), task.profile);
  return capacity.fits() ? Choice::kBoth : Choice::kAttention;
}

/// The article's table in the order of precedence; the first line that applies is followed.
struct Scenario {
  const char* name;
  bool is_wish;
  bool (*applies)(const Task&);
  Choice (*choice)(const Task&);
  const char* reason;
};
constexpr Scenario kScenarios[] = {
    {"training", true, [](const Task& t) { return t.request.training; }, [](const Task&) { return Choice::kNormOnly; },
     "training keeps the intermediate results for the gradients, so only additions and norms are joined"},
    {"latency", true, [](const Task& t) { return t.request.latency_ms.value_or(kLowLatencyMs) < kLowLatencyMs; },
     [](const Task&) { return Choice::kBoth; }, "below 100 ms every kernel that is not launched counts"},
    {"throughput", true, [](const Task& t) { return t.request.qps.value_or(0) > kManyQueries; },
     [](const Task&) { return Choice::kAttention; },
     "above 100 queries per second the longer kernels of the MLP fusion lower the occupancy"},
    {"short", false, [](const Task& t) { return t.tokens() <= kShort; }, [](const Task&) { return Choice::kBoth; },
     "up to 512 tokens the intermediate results fit on chip"},
    {"long", false, [](const Task& t) { return t.tokens() >= kLong; }, [](const Task&) { return Choice::kAttention; },
     "from 2048 tokens on the intermediate results of the MLP do not fit on chip"},
    {"between", false, [](const Task&) { return true; }, between,
     "between 512 and 2048 tokens both if the intermediate results of the MLP fit on chip, else attention"},
};

[[noreturn]] void fail(const char* what, double value) {
  throw Error(ErrorCode::kUsage, fmt::format("{} is {:g}", what, value), "recommend", "give a number above 0");
}

void check(const RecommendRequest& request) {
  if (request.seq_len < 0) fail("seq_len", static_cast<double>(request.seq_len));
  if (request.batch < 1) fail("batch", static_cast<double>(request.batch));
  for (const auto& [name, value] : {std::pair{"latency_ms", request.latency_ms}, std::pair{"qps", request.qps}})
    if (value && !(std::isfinite(*value) && *value > 0)) fail(name, *value);
}

/// Wishes after the one that is followed, and a length that the followed one does not suit.
std::vector<std::string> clashes(const Task& task, const Scenario& followed) {
  const Choice chosen = followed.choice(task);
  std::vector<std::string> warnings;
  for (const Scenario* other = &followed + 1; other != std::end(kScenarios); ++other) {
    if (!other->applies(task)) continue;
    const Choice choice = other->choice(task);
    const bool too_large = row_of(chosen).mlp && !row_of(choice).mlp;
    if (choice != chosen && (other->is_wish || too_large))
      warnings.push_back(fmt::format("'{}' advises {}, but '{}' comes first and advises {}", other->name,
                                     row_of(choice).name, followed.name, row_of(chosen).name));
    if (!other->is_wish) break;  // one line for the length
  }
  return warnings;
}

Recommendation by_table(const Task& task) {
  const auto* followed =
      std::find_if(std::begin(kScenarios), std::end(kScenarios), [&](const Scenario& s) { return s.applies(task); });
  const Choice choice = followed->choice(task);
  return {options_of(choice), followed->name, fmt::format("{}: {}", row_of(choice).name, followed->reason),
          clashes(task, *followed)};
}

Recommendation by_cost(const Task& task) {
  const ChoiceOptions* best = nullptr;
  double least = 0;
  for (const ChoiceOptions& row : kChoices) {
    const double seconds = predicted_seconds(task, row.choice);
    if (best != nullptr && seconds >= least) continue;
    best = &row;
    least = seconds;
  }
  const double unfused = predicted_seconds(task, Choice::kNone);
  return {options_of(best->choice),
          "cost model",
          fmt::format("{}: the cost model of '{}' predicts {:.3g} ms for a call of {} x {} tokens, {:.3g} ms unfused; "
                      "the article's table is for the Ascend 910",
                      best->name, task.profile.name, 1e3 * least, task.request.batch, task.tokens(), 1e3 * unfused),
          {}};
}

}  // namespace

Recommendation recommend(const RecommendRequest& request, const Graph& graph, std::span<const NodeId> mlp,
                         const DeviceProfile& profile) {
  check(request);
  const Task task{request, graph, mlp, profile};
  Recommendation result = profile.row_tiled && !request.training ? by_cost(task) : by_table(task);
  for (const std::string& warning : result.warnings) log_warn(warning);
  return result;
}

}  // namespace atb

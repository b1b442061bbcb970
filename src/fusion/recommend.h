// Which fusions to use for a task: the article's scenario table, or the cost model.
#pragma once

#include <atb/plan_report.h>

#include "cost/cost_model.h"

namespace atb {

/// `graph` is recognised, `mlp` are the nodes of one of its MLP blocks; request.device and request.model have been
/// resolved to `profile` and `graph`.
Recommendation recommend(const RecommendRequest& request, const Graph& graph, std::span<const NodeId> mlp,
                         const DeviceProfile& profile);

}  // namespace atb

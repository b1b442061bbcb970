// What the fusion pass says: the articles' lines once per kind, each decision at DEBUG, and the conflicts of a layer's
// arguments.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "fusion/fuse.h"
#include "fusion/planner.h"

namespace atb {

/// "[INFO] MLP fusion enabled: ...", "[WARN] MLP fusion skipped: ...", and the rest at DEBUG.
void log_fusion(const Facts& facts, const Planner& plan, const FusionResult& result, const Workload& workload);

}  // namespace atb

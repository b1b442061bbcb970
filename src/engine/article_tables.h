// The figures of the two articles, computed by the cost model for LLaMA-2-7B in fp16.
#pragma once

#include <atb/plan_report.h>

#include "cost/profile.h"

namespace atb {

/// Article 1: batch 1, sequence 128. Article 2: prompt 512, 128 tokens, batch 1.
std::vector<ReportTable> article_tables(const DeviceProfile& profile);

}  // namespace atb

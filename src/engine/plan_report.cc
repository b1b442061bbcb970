#include <atb/plan_report.h>

#include "cost/profile.h"
#include "engine/article_tables.h"

namespace atb {

std::vector<ReportTable> article_tables(const std::string& device) { return article_tables(find_profile(device, "")); }

}  // namespace atb

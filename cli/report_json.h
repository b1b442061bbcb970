// Tables of figures as JSON.
#pragma once

#include <atb/plan_report.h>

#include <nlohmann/json.hpp>

namespace atb::cli {

/// [{name, unit, columns, rows: [{label, values, low, high, reference, deviation_percent}], notes}]: low and high are
/// the ends of the article's range, reference its middle; null where the article says nothing.
nlohmann::ordered_json tables_json(const std::vector<ReportTable>& tables);

}  // namespace atb::cli

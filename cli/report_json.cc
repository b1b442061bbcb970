#include "report_json.h"

namespace atb::cli {
namespace {

using Json = nlohmann::ordered_json;

/// NaN is null.
Json number(double value) { return value == value ? Json(value) : Json(nullptr); }

Json row_json(const ReportRow& row) {
  Json json{{"label", row.label}};
  for (const char* key : {"values", "low", "high", "reference", "deviation_percent"}) json[key] = Json::array();
  for (const ReportCell& cell : row.cells) {
    json["values"].push_back(cell.value);
    json["low"].push_back(number(cell.reference_low));
    json["high"].push_back(number(cell.reference_high));
    json["reference"].push_back(number((cell.reference_low + cell.reference_high) / 2));
    json["deviation_percent"].push_back(number(100 * cell.deviation()));
  }
  return json;
}

}  // namespace

Json tables_json(const std::vector<ReportTable>& tables) {
  Json json = Json::array();
  for (const ReportTable& table : tables) {
    Json rows = Json::array();
    for (const ReportRow& row : table.rows) rows.push_back(row_json(row));
    json.push_back({{"name", table.name},
                    {"unit", table.unit},
                    {"columns", table.columns},
                    {"rows", std::move(rows)},
                    {"notes", table.notes}});
  }
  return json;
}

}  // namespace atb::cli

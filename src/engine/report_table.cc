// Tables of figures as text.
#include <atb/plan_report.h>
#include <fmt/format.h>

#include <algorithm>

namespace atb {
namespace {

std::string number(double value) { return fmt::format("{:.4g}", value); }

std::string text_of(const ReportCell& cell) {
  if (!cell.has_reference()) return number(cell.value);
  const bool range = cell.reference_low != cell.reference_high;
  return fmt::format("{} ({}{}{}, {:+.1f}%)", number(cell.value), number(cell.reference_low), range ? "-" : "",
                     range ? number(cell.reference_high) : "", 100 * cell.deviation());
}

using Lines = std::vector<std::vector<std::string>>;

Lines lines_of(const ReportTable& table) {
  Lines lines = {{""}};
  for (const std::string& column : table.columns) lines[0].push_back(column);
  for (const ReportRow& row : table.rows) {
    std::vector<std::string>& line = lines.emplace_back(1, row.label);
    for (const ReportCell& cell : row.cells) line.push_back(text_of(cell));
  }
  return lines;
}

std::vector<size_t> widths_of(const Lines& lines) {
  std::vector<size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  return widths;
}

}  // namespace

double ReportCell::deviation() const noexcept {
  if (!has_reference() || (value >= reference_low && value <= reference_high))
    return has_reference() ? 0 : reference_low;
  return value / (value < reference_low ? reference_low : reference_high) - 1;
}

std::string to_text(const ReportTable& table) {
  const Lines lines = lines_of(table);
  const std::vector<size_t> widths = widths_of(lines);
  std::string text = fmt::format("{} [{}]\n", table.name, table.unit);
  for (const auto& line : lines) {
    std::string row;
    for (size_t i = 0; i < line.size(); ++i) row += fmt::format("  {:<{}}", line[i], widths[i]);
    text += row.substr(0, row.find_last_not_of(' ') + 1) + "\n";
  }
  for (const std::string& note : table.notes) text += "  " + note + "\n";
  return text;
}

}  // namespace atb

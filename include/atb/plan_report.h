// What the cost model says about a device: the articles' tables with the modelled figures beside the printed ones, and
// advice which fusions to use. Nothing here runs a model.
#pragma once

#include <atb/fusion.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace atb {

/// A modelled figure, and the range that the article prints for it (both ends equal for a single number, NaN for none).
struct ReportCell {
  double value = 0;
  double reference_low = std::numeric_limits<double>::quiet_NaN();
  double reference_high = std::numeric_limits<double>::quiet_NaN();

  bool has_reference() const noexcept { return reference_low == reference_low; }
  /// value / reference - 1 against the nearer end of the range; 0 within it, NaN without a reference.
  double deviation() const noexcept;
};
struct ReportRow {
  std::string label;
  std::vector<ReportCell> cells;  ///< one per column
};
struct ReportTable {
  std::string name, unit;
  std::vector<std::string> columns;
  std::vector<ReportRow> rows;
  std::vector<std::string> notes;  ///< what the figures mean, and why one is off
};

/// The tables of both articles (LLaMA-2-7B, fp16) on a device: "ascend910", another built-in name, "host" or a JSON
/// file. Error{kUsage} or {kFile} for a device that is not there or not well formed.
std::vector<ReportTable> article_tables(const std::string& device);

/// The numbers of a device as one JSON object, in the form of a user's profile file.
std::string device_profile_json(const std::string& device);

/// Columns aligned; a cell with a reference reads "34.1 (40, -15%)".
std::string to_text(const ReportTable& table);

/// What is to be run, and what matters. At most one of the wishes is followed: training, then a latency below 100 ms,
/// then more than 100 queries per second.
struct RecommendRequest {
  int64_t seq_len = 0;  ///< tokens of a call; 0: not known, 512 is assumed
  int64_t batch = 1;
  bool training = false;
  std::optional<double> latency_ms = {};  ///< wanted at most
  std::optional<double> qps = {};         ///< wanted at least, queries per second
  std::string device = {};                ///< empty: ATB_DEVICE_PROFILE, then "host"
  std::string model = "llama-2-7b";       ///< shape preset, for capacity and for the host's cost model
};

struct Recommendation {
  FusionOptions options;
  std::string rule;    ///< "training", "latency", "throughput", "short", "long", "between", or "cost model"
  std::string reason;  ///< one sentence
  std::vector<std::string> warnings;  ///< wishes that were not followed, and why; logged as WARN too
};

/// The article's scenario table, in its order; a device whose kernels work on tiles of rows (every one but the
/// ascend910) has other limits, so there the cost model decides and `rule` and `reason` say so (training apart).
/// Error{kUsage} for sizes or wishes that are no positive numbers.
Recommendation recommend(const RecommendRequest& request);

}  // namespace atb

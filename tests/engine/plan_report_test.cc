#include <atb/error.h>
#include <atb/plan_report.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/eager_layer.h"

namespace atb {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ReportTable& table(const std::string& name) {
  static const std::vector<ReportTable> tables = article_tables("ascend910");
  return *std::find_if(tables.begin(), tables.end(), [&](const ReportTable& t) { return t.name == name; });
}

const ReportCell& cell(const ReportTable& t, size_t row, size_t column) { return t.rows.at(row).cells.at(column); }

TEST(ArticleTables, EveryCellButContext8192IsWithin15Percent) {
  int cells = 0;
  for (const char* name : {"latency", "norm_fusion", "norm_gain", "kernels"}) {
    for (const ReportRow& row : table(name).rows) {
      for (const ReportCell& c : row.cells) {
        if (!c.has_reference() || row.label == "batch 1, context 8192") continue;
        EXPECT_LT(std::fabs(c.deviation()), 0.15) << name << ", " << row.label << ": " << c.value;
        ++cells;
      }
    }
  }
  EXPECT_EQ(cells, 8 + 8 + 2 + 2);
}

TEST(ArticleTables, RoundTripsAndThresholdsAreExact) {
  for (const char* name : {"round_trips", "capacity"})
    for (const ReportRow& row : table(name).rows)
      for (const ReportCell& c : row.cells) EXPECT_TRUE(!c.has_reference() || c.deviation() == 0) << row.label;
}

TEST(ArticleTables, TheSixthFusedOperatorMakesAKernelSlower) {
  const ReportTable& t = table("operators_per_kernel");
  EXPECT_LT(cell(t, 4, 0).value, cell(t, 3, 0).value);
  EXPECT_GT(cell(t, 5, 0).value, cell(t, 4, 0).value);
}

TEST(ArticleTables, FusionHalvesTheKernelsOfALayer) {
  const ReportTable& t = table("kernels");
  EXPECT_EQ(cell(t, 2, 0).value, 20);
  EXPECT_EQ(cell(t, 4, 0).value, 2);
  EXPECT_NO_THROW(eager_layers(2).verify());
}

TEST(ArticleTables, TextShowsModelArticleAndDeviation) {
  const ReportTable t{
      "t", "ms", {"a"}, {{"row", {{110, 100, 100}}}, {"range", {{9, 8, 10}}}, {"bare", {{1.5}}}}, {"why"}};
  const std::string text = to_text(t);
  EXPECT_THAT(text, HasSubstr("110 (100, +10.0%)"));
  EXPECT_THAT(text, HasSubstr("9 (8-10, +0.0%)"));
  EXPECT_THAT(text, HasSubstr("1.5\n"));
  EXPECT_THAT(text, HasSubstr("why"));
}

Recommendation on_ascend(RecommendRequest request) {
  request.device = "ascend910";
  return recommend(request);
}

TEST(Recommend, FollowsTheArticlesTable) {
  struct Line {
    RecommendRequest request;
    const char* rule;
    bool mlp, attention;
  };
  const Line lines[] = {
      {{.seq_len = 512}, "short", true, true},
      {{.seq_len = 2048}, "long", false, true},
      {{.seq_len = 700}, "between", true, true},    // 700 * 11008 * 2 B < 16 MiB
      {{.seq_len = 1024}, "between", false, true},  // 1024 * 11008 * 2 B > 16 MiB
      {{.training = true}, "training", false, false},
      {{.latency_ms = 50}, "latency", true, true},
      {{.latency_ms = 100}, "short", true, true},
      {{.qps = 200}, "throughput", false, true},
      {{.qps = 100}, "short", true, true},
      {{}, "short", true, true},
  };
  for (const Line& line : lines) {
    const Recommendation r = on_ascend(line.request);
    EXPECT_EQ(r.rule, line.rule);
    EXPECT_EQ(r.options.mlp, line.mlp) << line.rule;
    EXPECT_EQ(r.options.attention, line.attention) << line.rule;
    EXPECT_EQ(r.options.layernorm, true);
    EXPECT_THAT(r.warnings, IsEmpty()) << line.rule;
  }
}

TEST(Recommend, AClashIsAWarningAndTheFirstLineWins) {
  const Recommendation training = on_ascend({.training = true, .latency_ms = 50, .qps = 200});
  EXPECT_EQ(training.rule, "training");
  EXPECT_EQ(training.warnings.size(), 2u);
  const Recommendation latency = on_ascend({.latency_ms = 50, .qps = 200});
  EXPECT_EQ(latency.rule, "latency");
  ASSERT_EQ(latency.warnings.size(), 1u);
  EXPECT_THAT(latency.warnings[0], HasSubstr("'throughput' advises attention only"));
  EXPECT_EQ(on_ascend({.seq_len = 4096, .latency_ms = 50}).warnings.size(), 1u);
}

TEST(Recommend, OtherDevicesDecideFromTheCostModelAndSaySo) {
  RecommendRequest request{.seq_len = 64, .device = "zen4", .model = "smollm2-135m"};
  const Recommendation r = recommend(request);
  EXPECT_EQ(r.rule, "cost model");
  EXPECT_THAT(r.reason, HasSubstr("cost model of 'zen4'"));
  request.training = true;
  EXPECT_EQ(recommend(request).rule, "training");
}

TEST(Recommend, RefusesSizesThatAreNone) {
  EXPECT_THROW(on_ascend({.seq_len = -1}), Error);
  EXPECT_THROW(on_ascend({.batch = 0}), Error);
  EXPECT_THROW(on_ascend({.latency_ms = 0}), Error);
  EXPECT_THROW(on_ascend({.qps = -5}), Error);
  EXPECT_THROW(on_ascend({.model = "llama-9"}), Error);
}

}  // namespace
}  // namespace atb

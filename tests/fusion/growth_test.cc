// What both stages cost as models grow: captured layers that share their rotary tables and masks.
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>

#include "fusion/families.h"
#include "fusion/fuse.h"
#include "support/sanitizers.h"

namespace atb::testing {
namespace {

/// Both stages, the best of some runs, in CPU time: they run on one thread, so on an idle machine this is how long the
/// pass takes, and on a shared one the time spent waiting for a core does not count.
double milliseconds(const Graph& graph, int runs = 3) {
  const FusionContext context{{}, builtin_profile("zen4"), {.tokens = 1, .past = 128}};
  double best = 1e9;
  for (int i = 0; i < runs; ++i) {
    const std::clock_t start = std::clock();
    fuse(recognise(graph), context);
    best = std::min(best, 1e3 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

Graph family(const std::string& name, int64_t layers) {
  const auto found =
      std::find_if(families().begin(), families().end(), [&](const Family& f) { return f.name == name; });
  return stacked(found->build(), layers);
}

// LLaMA shares tables and masks; GLM-4 cuts its tables again in every layer.
class Growth : public ::testing::TestWithParam<const char*> {};
TEST_P(Growth, IsLinearInLayers) {
  const double some = milliseconds(family(GetParam(), 250)), many = milliseconds(family(GetParam(), 1000));
  EXPECT_LT(many, 6 * some) << some << " ms for 250 layers, " << many << " ms for 1000";
}
INSTANTIATE_TEST_SUITE_P(Families, Growth, ::testing::Values("llama", "glm4"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Growth, ThirtyTwoLayersTakeUnder50Milliseconds) {
  const double pass = milliseconds(family("llama", 32), 10);
  RecordProperty("milliseconds", std::to_string(pass));
  EXPECT_LT(pass, 50 * test::kSlowdown);
}

}  // namespace
}  // namespace atb::testing

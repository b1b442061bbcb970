// Stage 1 over one layer of each family: the text after recognition is kept in golden/, and computes the same.
#include <filesystem>
#include <fstream>

#include "fusion/families.h"
#include "fusion/recognise_support.h"

namespace atb::testing {
namespace {

std::string golden(const std::string& name) {
  std::ifstream file(std::filesystem::path(__FILE__).parent_path() / "golden" / (name + ".txt"));
  return {std::istreambuf_iterator<char>(file), {}};
}

class Families : public ::testing::TestWithParam<Family> {};
TEST_P(Families, AreInSemanticOperators) {
  const Graph before = GetParam().build();
  const Recognition found = recognised(before.to_text());
  EXPECT_EQ(found.graph.to_text(), golden(GetParam().name));
  for (const Node& node : found.graph.nodes()) {
    EXPECT_NE(node.op, Op::kUnary) << node.path;
    EXPECT_NE(node.op, Op::kBinary) << node.path;
    EXPECT_NE(node.op, Op::kReduce) << node.path;
    EXPECT_NE(node.op, Op::kTranspose) << node.path;
    EXPECT_NE(node.op, Op::kConcat) << node.path;
  }
  EXPECT_THAT(found.near_misses, ::testing::IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(All, Families, ::testing::ValuesIn(families().begin(), families().end()),
                         [](const auto& info) { return std::string(info.param.name); });

// Every node of the original is a source of what stands for it, unless it did nothing.
TEST(Families, SourcesAreKept) {
  const Graph before = families()[0].build();
  const Recognition found = recognise_explained(before);
  for (size_t n = 0; n < found.graph.nodes().size(); ++n) {
    EXPECT_FALSE(found.sources[n].empty());
    for (const NodeId source : found.sources[n]) EXPECT_LT(source, static_cast<NodeId>(before.nodes().size()));
  }
}

}  // namespace
}  // namespace atb::testing

#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atb {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Text, EditDistanceCountsInsertionsRemovalsAndReplacements) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(Text, NearestNameIsTheOneToSuggest) {
  const std::vector<std::string> rules = {"add_layernorm", "layernorm_matmul", "bias_activation"};
  EXPECT_EQ(nearest_name("layernorm_matmull", rules), "layernorm_matmul");
  EXPECT_EQ(nearest_name("ad_layernorm", rules), "add_layernorm");
  EXPECT_EQ(nearest_name("anything", {}), "");
}

TEST(Text, SplitTrimsPartsAndDropsEmptyOnes) {
  EXPECT_THAT(split(" a, b ,,c,", ','), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split("", ','), IsEmpty());
  EXPECT_THAT(split(" , ", ','), IsEmpty());
}

TEST(Text, JoinPutsTheSeparatorBetween) {
  EXPECT_EQ(join({"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join({"a"}, ", "), "a");
  EXPECT_EQ(join({}, ", "), "");
}

TEST(Text, TrimKeepsInnerSpaces) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim("  "), "");
}

TEST(Text, EqualIgnoringCaseIsForAsciiLetters) {
  EXPECT_TRUE(equal_ignoring_case("Warn", "WARN"));
  EXPECT_FALSE(equal_ignoring_case("warn", "warning"));
  EXPECT_FALSE(equal_ignoring_case("[", "{"));
}

TEST(Text, BytesArePrintedInTheUnitThatReadsBest) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536 * 1024.0), "1.5 MiB");
  EXPECT_EQ(format_bytes(1024 * 1024.0 - 1), "1.0 MiB");
  EXPECT_EQ(format_bytes(3 * 1024.0 * 1024 * 1024), "3.0 GiB");
}

}  // namespace
}  // namespace atb

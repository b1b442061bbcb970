#include <atb/error.h>
#include <atb/graph.h>
#include <gtest/gtest.h>

namespace atb {
namespace {

const Dim T = Dim::symbol("tokens"), P = Dim::symbol("past");

TEST(Dim, SumsAreOneExpressionInAnyOrder) {
  EXPECT_EQ(T + P + 1, Dim(1) + P + T);
  EXPECT_EQ(T + T, T * 2);
  EXPECT_EQ(T + T * -1, Dim(0));
  EXPECT_EQ(T * 0, Dim(0));
  EXPECT_NE(T, P);
  EXPECT_NE(T, Dim(0));
}

TEST(Dim, Prints) {
  EXPECT_EQ((P * 2 + T + 3).to_string(), "2*past+tokens+3");
  EXPECT_EQ((T * -1 + -4).to_string(), "-1*tokens-4");
  EXPECT_EQ(Dim(0).to_string(), "0");
}

TEST(Dim, Evaluates) {
  EXPECT_EQ((P * 2 + T + 3).evaluate({{"past", 10}, {"tokens", 4}}), 27);
  EXPECT_THROW(T.evaluate({{"past", 10}}), Error);
}

TEST(Dim, RefusesWhatDoesNotFitInto64Bits) {
  const int64_t half = int64_t{1} << 62;
  EXPECT_THROW(Dim(half) + half, Error);
  EXPECT_THROW(T * half * 2, Error);
  EXPECT_THROW((T * half).evaluate({{"tokens", 4}}), Error);
}

TEST(Dim, RefusesNamesThatDoNotPrint) {
  for (const char* name : {"", "2x", "a b", "a.b", "a+b"}) EXPECT_THROW(Dim::symbol(name), Error) << name;
}

}  // namespace
}  // namespace atb

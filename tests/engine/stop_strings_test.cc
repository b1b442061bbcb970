#include "engine/stop_strings.h"

#include <atb/error.h>
#include <gtest/gtest.h>

namespace atb {
namespace {

/// Everything that is shown when the text comes in these pieces.
std::string shown(StopStrings& stops, const std::vector<std::string>& pieces) {
  std::string text;
  for (const std::string& piece : pieces) text += stops.push(piece);
  return text + stops.flush();
}

TEST(StopStrings, WithoutStopsEverythingIsShownAtOnce) {
  StopStrings stops({});
  EXPECT_EQ(stops.push("abc"), "abc");
  EXPECT_FALSE(stops.matched());
}

TEST(StopStrings, FoundAcrossPiecesOfEverySize) {
  const std::string text = "one two END three";
  for (size_t size = 1; size <= text.size(); ++size) {
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size(); at += size) pieces.push_back(text.substr(at, size));
    StopStrings stops({"END"});
    EXPECT_EQ(shown(stops, pieces), "one two ") << size;
    EXPECT_TRUE(stops.matched());
  }
}

TEST(StopStrings, NothingOfAStopStringIsShownEarly) {
  StopStrings stops({"\n\nUser:"});
  EXPECT_EQ(stops.push("Hi\n"), "Hi");
  EXPECT_EQ(stops.push("\nUs"), "");
  EXPECT_EQ(stops.push("ed"), "\n\nUsed");
}

TEST(StopStrings, AFalseStartMayHoldTheTrueOne) {
  StopStrings stops({"aab"});
  EXPECT_EQ(shown(stops, {"a", "a", "a", "b", "c"}), "a");
  EXPECT_TRUE(stops.matched());
}

TEST(StopStrings, TheEarliestWins) {
  StopStrings stops({"late", "x"});
  EXPECT_EQ(shown(stops, {"ab x late"}), "ab ");
}

TEST(StopStrings, WhatWasHeldBackComesAtTheEnd) {
  StopStrings stops({"<end>"});
  EXPECT_EQ(stops.push("a<en"), "a");
  EXPECT_EQ(stops.flush(), "<en");
  EXPECT_FALSE(stops.matched());
}

TEST(StopStrings, EmptyIsAnError) { EXPECT_THROW(StopStrings({"a", ""}), Error); }

}  // namespace
}  // namespace atb

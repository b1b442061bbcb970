#include "engine/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <set>

namespace atb {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// How often each token comes in `draws` draws.
std::vector<double> frequencies(const SamplingOptions& options, const std::vector<float>& logits, int draws) {
  Sampler sampler(options);
  std::vector<double> counts(logits.size());
  for (int i = 0; i < draws; ++i) {
    std::vector<float> copy = logits;
    counts[static_cast<size_t>(sampler.sample(copy, {}))] += 1.0 / draws;
  }
  return counts;
}

TokenId sample_once(const SamplingOptions& options, std::vector<float> logits, std::vector<TokenId> history = {}) {
  return Sampler(options).sample(logits, history);
}

std::set<size_t> seen(const SamplingOptions& options, const std::vector<float>& logits) {
  std::set<size_t> tokens;
  const std::vector<double> counts = frequencies(options, logits, 4000);
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) tokens.insert(i);
  }
  return tokens;
}

/// Logits of these probabilities.
std::vector<float> logits_of(const std::vector<double>& probabilities) {
  std::vector<float> logits;
  for (double p : probabilities) logits.push_back(static_cast<float>(std::log(p)));
  return logits;
}

// The published test vector of SplitMix64 with seed 1234567.
TEST(SplitMix64, KnownSequence) {
  SplitMix64 random(1234567);
  EXPECT_EQ(random.next(), 6457827717110365317u);
  EXPECT_EQ(random.next(), 3203168211198807973u);
  EXPECT_EQ(random.next(), 9817491932198370423u);
}

TEST(Sampler, GreedyTakesTheLowestIdAmongEquals) {
  EXPECT_EQ(sample_once({}, {1, 3, 3, 2}), 1);
  EXPECT_EQ(sample_once({}, {-kInf, -kInf, -5}), 2);
}

TEST(Sampler, FrequenciesAreTheProbabilities) {
  const std::vector<double> p = {0.5, 0.3, 0.15, 0.05};
  const int draws = 40000;
  const std::vector<double> f = frequencies({.temperature = 1.0, .seed = 3}, logits_of(p), draws);
  for (size_t i = 0; i < p.size(); ++i) EXPECT_NEAR(f[i], p[i], 5 * std::sqrt(p[i] * (1 - p[i]) / draws));
}

TEST(Sampler, TemperatureSharpensAndFlattens) {
  const std::vector<double> p = {0.8, 0.2};
  // Temperature T raises probabilities to 1/T: 0.8^2 / (0.8^2 + 0.2^2) = 16/17.
  EXPECT_NEAR(frequencies({.temperature = 0.5}, logits_of(p), 40000)[0], 16.0 / 17, 0.006);
  EXPECT_NEAR(frequencies({.temperature = 1e6}, logits_of(p), 40000)[0], 0.5, 0.0125);
  EXPECT_EQ(frequencies({.temperature = 1e-9}, logits_of(p), 128)[0], 1.0);
}

TEST(Sampler, TopK) {
  const std::vector<float> logits = {1, 5, 4, 5, 3};
  EXPECT_EQ(seen({.temperature = 1, .top_k = 1}, logits), (std::set<size_t>{1}));
  EXPECT_EQ(seen({.temperature = 1, .top_k = 3}, logits), (std::set<size_t>{1, 2, 3}));
  EXPECT_EQ(seen({.temperature = 9, .top_k = 99}, logits).size(), 5u);
}

TEST(Sampler, TopPKeepsTheFewestThatHoldTheProbability) {
  const std::vector<float> logits = logits_of({0.1, 0.5, 0.1, 0.3});
  EXPECT_EQ(seen({.temperature = 1, .top_p = 0.45}, logits), (std::set<size_t>{1}));
  EXPECT_EQ(seen({.temperature = 1, .top_p = 0.55}, logits), (std::set<size_t>{1, 3}));
  EXPECT_EQ(seen({.temperature = 1, .top_p = 0.85}, logits), (std::set<size_t>{0, 1, 3}));
  EXPECT_EQ(seen({.temperature = 1, .top_p = 1e-12}, logits), (std::set<size_t>{1}));
}

TEST(Sampler, MinPIsRelativeToTheMostLikely) {
  const std::vector<float> logits = logits_of({0.6, 0.25, 0.1, 0.05});
  EXPECT_EQ(seen({.temperature = 1, .min_p = 0.3}, logits), (std::set<size_t>{0, 1}));
  EXPECT_EQ(seen({.temperature = 1, .min_p = 1.0}, logits), (std::set<size_t>{0}));
}

TEST(Sampler, SameSeedSameTokens) {
  const std::vector<float> logits(1000, 0.0f);
  const auto draw = [&](uint64_t seed) {
    Sampler sampler({.temperature = 1, .top_p = 0.9, .seed = seed});
    std::vector<TokenId> tokens;
    for (int i = 0; i < 20; ++i) {
      std::vector<float> copy = logits;
      tokens.push_back(sampler.sample(copy, tokens));
    }
    return tokens;
  };
  EXPECT_EQ(draw(1), draw(1));
  EXPECT_NE(draw(1), draw(2));
}

TEST(Sampler, RepetitionPenaltyLowersBothSigns) {
  EXPECT_EQ(sample_once({.repeat_penalty = 2}, {4, 3}, {0}), 1);          // 4 / 2 < 3
  EXPECT_EQ(sample_once({.repeat_penalty = 2}, {-1, -1.5f}, {0}), 1);     // -1 * 2 < -1.5
  EXPECT_EQ(sample_once({.repeat_penalty = 1.2}, {4, 3}, {0, 0, 0}), 0);  // once, however often it came
  EXPECT_EQ(sample_once({.repeat_penalty = 2, .repeat_last_n = 1}, {4, 3, 0}, {0, 2}), 0);
  EXPECT_EQ(sample_once({.repeat_penalty = 2, .repeat_last_n = 0}, {4, 3}, {0}), 0);
}

TEST(Sampler, NumbersWithoutABestTokenAreAnError) {
  for (const std::vector<float>& logits : {std::vector<float>{1, kNan, 0}, {kNan, 1}, {1, kInf}, {-kInf, -kInf}}) {
    for (double temperature : {0.0, 1.0}) {
      try {
        sample_once({.temperature = temperature}, logits);
        FAIL() << "no error";
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kModel);
      }
    }
  }
}

TEST(Sampler, OptionsOutOfRangeAreNamed) {
  const std::pair<SamplingOptions, const char*> kBad[] = {
      {{.temperature = -1}, "temperature"},
      {{.temperature = kNan}, "temperature"},
      {{.top_k = -1}, "top_k"},
      {{.top_p = 0}, "top_p"},
      {{.top_p = 1.5}, "top_p"},
      {{.min_p = -0.1}, "min_p"},
      {{.min_p = kNan}, "min_p"},
      {{.repeat_penalty = 0}, "repeat_penalty"},
      {{.repeat_last_n = -1}, "repeat_last_n"},
  };
  for (const auto& [options, field] : kBad) {
    try {
      const Sampler sampler(options);
      FAIL() << field;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUsage);
      EXPECT_EQ(error.where(), field);
      EXPECT_THAT(error.message(), ::testing::HasSubstr("expected"));
    }
  }
}

}  // namespace
}  // namespace atb

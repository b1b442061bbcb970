#include "engine/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

namespace atb {
namespace {

struct Range {
  const char* field;
  double value;
  bool fits;
  const char* expected;
};

void check(const SamplingOptions& o) {
  const Range ranges[] = {
      {"temperature", o.temperature, std::isfinite(o.temperature) && o.temperature >= 0, "0 or more"},
      {"top_k", static_cast<double>(o.top_k), o.top_k >= 0, "0 (off) or more"},
      {"top_p", o.top_p, o.top_p > 0 && o.top_p <= 1, "above 0, at most 1 (off)"},
      {"min_p", o.min_p, o.min_p >= 0 && o.min_p <= 1, "0 (off) to 1"},
      {"repeat_penalty", o.repeat_penalty, std::isfinite(o.repeat_penalty) && o.repeat_penalty > 0, "above 0"},
      {"repeat_last_n", static_cast<double>(o.repeat_last_n), o.repeat_last_n >= 0, "0 or more"},
  };
  for (const Range& range : ranges) {
    if (range.fits) continue;
    throw Error(ErrorCode::kUsage, fmt::format("{} found, {} expected", range.value, range.expected), range.field,
                "choose a value in this range");
  }
}

/// More likely first, then the lower id: a total order, so that nothing depends on the sorting algorithm.
constexpr auto kBetter = [](const auto& a, const auto& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
};

[[noreturn]] void fail_logits(const char* found) {
  throw Error(ErrorCode::kModel, fmt::format("the model computed {}", found), "logits",
              "the weights are damaged, or this precision overflows: try precision fp32");
}

float highest_logit(std::span<const float> logits) {
  float highest = -INFINITY;
  bool nan = false;
  for (float logit : logits) {
    nan |= std::isnan(logit);
    highest = std::max(highest, logit);
  }
  if (nan) fail_logits("a logit that is not a number");
  if (!std::isfinite(highest)) fail_logits(highest > 0 ? "an infinite logit" : "no finite logit");
  return highest;
}

}  // namespace

size_t argmax(std::span<const float> values) noexcept {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

Sampler::Sampler(const SamplingOptions& options) : options_(options), random_(options.seed) { check(options); }

TokenId Sampler::sample(std::span<float> logits, std::span<const TokenId> history) {
  if (options_.repeat_penalty != 1.0) penalize(logits, history);
  const float highest = highest_logit(logits);
  if (options_.temperature == 0.0) return static_cast<TokenId>(argmax(logits));
  collect(logits, highest);
  if (options_.top_k > 0) keep_top_k();
  if (options_.top_p < 1.0) keep_top_p();
  if (options_.min_p > 0.0) keep_min_p();
  return draw();
}

// Keskar et al. 2019, with the sign rule that makes the penalty lower a negative logit too.
void Sampler::penalize(std::span<float> logits, std::span<const TokenId> history) const {
  const size_t count = std::min(history.size(), static_cast<size_t>(options_.repeat_last_n));
  const auto recent = history.last(count);
  const auto penalty = static_cast<float>(options_.repeat_penalty);
  for (TokenId id : std::unordered_set<TokenId>(recent.begin(), recent.end())) {
    if (static_cast<size_t>(id) >= logits.size()) continue;
    float& logit = logits[static_cast<size_t>(id)];
    logit = logit > 0 ? logit / penalty : logit * penalty;
  }
}

void Sampler::collect(std::span<const float> logits, float highest) {
  candidates_.clear();
  for (size_t i = 0; i < logits.size(); ++i) {
    const double weight = std::exp((static_cast<double>(logits[i]) - highest) / options_.temperature);
    candidates_.push_back({logits[i], static_cast<TokenId>(i), weight});
  }
}

void Sampler::keep_top_k() {
  const auto k = static_cast<size_t>(options_.top_k);
  if (k >= candidates_.size()) return;
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(k), candidates_.end(),
                    kBetter);
  candidates_.resize(k);
}

// Pops from a heap: the few tokens that hold most of the probability are found without sorting the vocabulary.
void Sampler::keep_top_p() {
  double total = 0;
  for (const Candidate& c : candidates_) total += c.weight;
  const auto worse = [](const Candidate& a, const Candidate& b) { return kBetter(b, a); };
  std::make_heap(candidates_.begin(), candidates_.end(), worse);
  std::vector<Candidate> kept;
  for (double sum = 0; !candidates_.empty() && (kept.empty() || sum < options_.top_p * total);) {
    std::pop_heap(candidates_.begin(), candidates_.end(), worse);
    kept.push_back(candidates_.back());
    candidates_.pop_back();
    sum += kept.back().weight;
  }
  candidates_.swap(kept);
}

void Sampler::keep_min_p() {
  std::erase_if(candidates_, [this](const Candidate& c) { return c.weight < options_.min_p; });
}

TokenId Sampler::draw() {
  double total = 0;
  for (const Candidate& c : candidates_) total += c.weight;
  double rest = random_.uniform() * total;
  TokenId last = candidates_.front().id;
  for (const Candidate& c : candidates_) {
    if (c.weight == 0) continue;
    last = c.id;
    rest -= c.weight;
    if (rest < 0) break;
  }
  return last;  // rounding may leave a rest after the last one
}

}  // namespace atb

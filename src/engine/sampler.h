// Chooses the next token from the logits of one position.
#pragma once

#include <atb/engine.h>

#include <span>
#include <vector>

#include "engine/random.h"

namespace atb {

class Sampler {
 public:
  /// Error{kUsage} naming the field, its value and what is allowed.
  explicit Sampler(const SamplingOptions& options);

  /// `logits` [vocabulary] are changed; `history` holds the tokens so far, the newest last. Error{kModel} if a logit is
  /// NaN or +inf, or all are -inf: such numbers have no best token.
  TokenId sample(std::span<float> logits, std::span<const TokenId> history);

 private:
  struct Candidate {
    float logit;
    TokenId id;
    double weight;  ///< exp((logit - highest) / temperature): 1 for the most likely
  };

  void penalize(std::span<float> logits, std::span<const TokenId> history) const;
  void collect(std::span<const float> logits, float highest);
  void keep_top_k();
  void keep_top_p();
  void keep_min_p();
  TokenId draw();

  SamplingOptions options_;
  SplitMix64 random_;
  std::vector<Candidate> candidates_;  ///< kept between calls for its memory
};

/// Index of the largest value, the first among equals.
size_t argmax(std::span<const float> values) noexcept;

}  // namespace atb

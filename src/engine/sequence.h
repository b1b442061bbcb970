// One sequence of tokens and its KV cache.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "engine/model_impl.h"

namespace atb {

class Sequence {
 public:
  explicit Sequence(Model::Impl& model) : model_(model), cache_(model.plan->states(), model.context()) {}

  /// Tokens whose keys and values are in the cache.
  std::span<const TokenId> tokens() const noexcept { return tokens_; }
  bool full() const noexcept { return static_cast<int64_t>(tokens_.size()) == model_.context(); }

  /// Forgets all but the first `length` tokens.
  void truncate(size_t length);

  using Cancelled = std::function<bool()>;
  using Rows = std::function<void(std::span<const float> logits)>;
  /// Computes the tokens after those in the cache, in blocks of the plan's most rows. `on_rows` gets the logits of each
  /// block's last token, or of all its tokens with `all_logits`, valid during the call. False if `cancelled` said so
  /// before a block; what was computed until then stays.
  bool extend(std::span<const TokenId> tokens, bool all_logits, const Cancelled& cancelled, const Rows& on_rows);

 private:
  Model::Impl& model_;
  KvCache cache_;
  std::vector<TokenId> tokens_;
};

/// Of tokens that follow `past` others: Error{kUsage} for one outside the vocabulary, Error{kResources} if the context
/// does not hold all.
void check_tokens(const Model::Impl& model, std::span<const TokenId> tokens, size_t past = 0);

}  // namespace atb

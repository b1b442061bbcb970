#include "engine/sequence.h"

#include <fmt/format.h>

#include <algorithm>

namespace atb {

void Sequence::truncate(size_t length) {
  cache_.truncate(static_cast<int64_t>(length));
  tokens_.resize(length);
}

bool Sequence::extend(std::span<const TokenId> tokens, bool all_logits, const Cancelled& cancelled,
                      const Rows& on_rows) {
  const auto block = static_cast<size_t>(model_.plan->options().max_rows);
  while (!tokens.empty()) {
    if (cancelled && cancelled()) return false;
    const auto next = tokens.first(std::min(block, tokens.size()));
    const std::lock_guard lock(model_.executing);
    const SequenceStep step = {.cache = &cache_, .tokens = next, .all_logits = all_logits};
    const std::span<const float> logits = model_.executor->step({&step, 1});
    tokens_.insert(tokens_.end(), next.begin(), next.end());
    tokens = tokens.subspan(next.size());
    on_rows(logits);
  }
  return true;
}

void check_tokens(const Model::Impl& model, std::span<const TokenId> tokens, size_t past) {
  const auto count = static_cast<int64_t>(past + tokens.size()), vocab = model.description.vocab_size;
  if (count > model.context()) {
    throw Error(ErrorCode::kResources,
                fmt::format("the prompt has {} tokens{}, the context holds {}", tokens.size(),
                            past > 0 ? fmt::format(" after {}", past) : "", model.context()),
                "context",
                fmt::format("shorten the prompt or load with a larger context (--ctx, at most {} for this model)",
                            model.description.max_context));
  }
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i] >= 0 && tokens[i] < vocab) continue;
    throw Error(ErrorCode::kUsage, fmt::format("token id {} found, 0 to {} expected", tokens[i], vocab - 1),
                fmt::format("token {} of the prompt", i), "use the ids of this model's tokenizer");
  }
}

}  // namespace atb

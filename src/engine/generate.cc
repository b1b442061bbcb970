// The loop of generation: prefill, then sample, show, decode.
#include "engine/generate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "engine/sampler.h"
#include "engine/text_stream.h"

namespace atb {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void check_options(const Model::Impl& model, const GenerateOptions& options) {
  if (options.max_tokens < 0) {
    throw Error(ErrorCode::kUsage, fmt::format("{} found, 0 or more expected", options.max_tokens), "max_tokens",
                "choose a value in this range");
  }
  if (!options.stop.empty()) model.require_tokenizer();
}

class Generation {
 public:
  Generation(Model::Impl& model, Sequence& sequence, const GenerateOptions& options, const TextCallback& on_text)
      : model_(model),
        sequence_(sequence),
        options_(options),
        sampler_(options.sampling),
        stream_(model.tokenizer.get(), options, on_text) {
    check_options(model, options);
  }

  GenerateResult run(std::vector<TokenId> prompt) {
    if (prompt.empty()) prompt.push_back(start_token());
    check_tokens(model_, prompt);
    result_.prompt_tokens = static_cast<int64_t>(prompt.size());
    history_ = std::move(prompt);
    const bool go_on = prefill();
    if (go_on) result_.prefill_s = seconds_since(start_);  // a part of a prompt has no speed: 0
    result_.finish_reason = go_on ? decode() : FinishReason::kCancelled;
    stream_.finish();
    if (stream_.stopped()) result_.finish_reason = FinishReason::kStop;
    result_.text = stream_.text();
    return std::move(result_);
  }

 private:
  TokenId start_token() const {
    const auto bos = model_.tokenizer ? model_.tokenizer->bos() : std::nullopt;
    if (bos) return *bos;
    throw Error(ErrorCode::kUsage, "the prompt is empty", "prompt", "this model has no BOS token to start from");
  }

  /// Keeps what the cache and the prompt have in common, but computes at least one token for its logits.
  bool prefill() {
    const auto cached = sequence_.tokens();
    const auto common = static_cast<size_t>(
        std::mismatch(cached.begin(), cached.end(), history_.begin(), history_.end()).first - cached.begin());
    const size_t keep = std::min(common, history_.size() - 1);
    sequence_.truncate(keep);
    result_.cached_tokens = static_cast<int64_t>(keep);
    return extend(std::span<const TokenId>(history_).subspan(keep));
  }

  FinishReason decode() {
    while (static_cast<int64_t>(result_.tokens.size()) < options_.max_tokens) {
      const TokenId token = sampler_.sample(logits_, history_);
      note_time();
      if (!options_.ignore_eos && is_eos(token)) return FinishReason::kEos;
      result_.tokens.push_back(token);
      history_.push_back(token);
      stream_.push(token);
      if (stream_.stopped()) return FinishReason::kStop;
      if (stream_.cancelled()) return FinishReason::kCancelled;
      if (static_cast<int64_t>(result_.tokens.size()) == options_.max_tokens) break;
      if (sequence_.full()) return FinishReason::kContext;
      if (!extend({&token, 1})) return FinishReason::kCancelled;
    }
    return FinishReason::kLength;
  }

  bool extend(std::span<const TokenId> tokens) {
    return sequence_.extend(tokens, false, options_.cancelled,
                            [this](std::span<const float> rows) { logits_.assign(rows.begin(), rows.end()); });
  }

  void note_time() {
    if (result_.tokens.empty()) result_.first_token_s = seconds_since(start_);
    result_.decode_s = seconds_since(start_) - result_.first_token_s;
  }

  bool is_eos(TokenId token) const {
    if (!model_.tokenizer) return false;
    const std::vector<TokenId>& eos = model_.tokenizer->eos();
    return std::find(eos.begin(), eos.end(), token) != eos.end();
  }

  const Clock::time_point start_ = Clock::now();
  Model::Impl& model_;
  Sequence& sequence_;
  const GenerateOptions& options_;
  Sampler sampler_;
  TextStream stream_;
  GenerateResult result_;
  std::vector<TokenId> history_;  ///< prompt and generated tokens
  std::vector<float> logits_;     ///< of the newest token
};

constexpr const char* kFinishReasons[] = {"eos", "stop", "length", "context", "cancelled"};

double rate(int64_t count, double seconds) { return seconds > 0 ? static_cast<double>(count) / seconds : 0.0; }

}  // namespace

const char* finish_reason_name(FinishReason reason) noexcept { return kFinishReasons[static_cast<int>(reason)]; }

double GenerateResult::prefill_tok_s() const { return rate(prompt_tokens - cached_tokens, prefill_s); }
double GenerateResult::decode_tok_s() const { return rate(static_cast<int64_t>(tokens.size()) - 1, decode_s); }

GenerateResult generate(Model::Impl& model, Sequence& sequence, std::vector<TokenId> prompt,
                        const GenerateOptions& options, const TextCallback& on_text) {
  return Generation(model, sequence, options, on_text).run(std::move(prompt));
}

}  // namespace atb

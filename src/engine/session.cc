// Sequences that live on between calls; a model's own generation is a session of one call.
#include <fmt/format.h>

#include "engine/generate.h"

namespace atb {

struct Session::State {
  std::shared_ptr<Model::Impl> model;
  Sequence sequence;
};

Session::Session(std::shared_ptr<Model::Impl> model) {
  Model::Impl& impl = *model;
  state_ = std::make_unique<State>(std::move(model), Sequence(impl));
}
Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

GenerateResult Session::generate(const std::vector<TokenId>& prompt, const GenerateOptions& options,
                                 const TextCallback& on_text) {
  return atb::generate(*state_->model, state_->sequence, prompt, options, on_text);
}

GenerateResult Session::generate(std::string_view prompt, const GenerateOptions& options, const TextCallback& on_text) {
  const Tokenizer& tokenizer = state_->model->require_tokenizer();
  return generate(tokenizer.encode(prompt, {.add_special = true, .parse_special = options.parse_special}), options,
                  on_text);
}

std::vector<float> Session::feed(const std::vector<TokenId>& tokens) {
  if (tokens.empty())
    throw Error(ErrorCode::kUsage, "no tokens found, at least one expected", "feed", "pass the next tokens");
  Sequence& sequence = state_->sequence;
  check_tokens(*state_->model, tokens, sequence.tokens().size());
  std::vector<float> logits;
  sequence.extend(tokens, false, {}, [&](std::span<const float> row) { logits.assign(row.begin(), row.end()); });
  return logits;
}

int64_t Session::length() const { return static_cast<int64_t>(state_->sequence.tokens().size()); }

void Session::truncate(int64_t length) {
  if (length < 0 || length > this->length())
    throw Error(ErrorCode::kUsage, fmt::format("{} found, 0 to {} expected", length, this->length()), "length",
                "a session only forgets its last tokens");
  state_->sequence.truncate(static_cast<size_t>(length));
}

Session Model::session() const { return Session(impl_); }

GenerateResult Model::generate(const std::vector<TokenId>& prompt, const GenerateOptions& options,
                               const TextCallback& on_text) const {
  return session().generate(prompt, options, on_text);
}

GenerateResult Model::generate(std::string_view prompt, const GenerateOptions& options,
                               const TextCallback& on_text) const {
  return session().generate(prompt, options, on_text);
}

}  // namespace atb

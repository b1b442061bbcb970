// What a loaded model answers besides generating.
#include <fmt/format.h>

#include "engine/sequence.h"

namespace atb {

const ModelDescription& Model::description() const { return impl_->description; }
std::string Model::graph_text() const { return impl_->plan->graph().to_text(); }
int64_t Model::vocab_size() const { return impl_->description.vocab_size; }

std::vector<TokenId> Model::tokenize(std::string_view text, bool add_special, bool parse_special) const {
  return impl_->require_tokenizer().encode(text, {.add_special = add_special, .parse_special = parse_special});
}

std::string Model::detokenize(const std::vector<TokenId>& tokens) const {
  return impl_->require_tokenizer().decode(tokens);
}

SpecialTokens Model::special_tokens() const {
  const Tokenizer& tokenizer = impl_->require_tokenizer();
  const auto text = [&](TokenId id) { return std::string(tokenizer.token_text(id)); };
  SpecialTokens special = {.bos = tokenizer.bos(), .eos = tokenizer.eos(), .adds_bos = tokenizer.adds_bos()};
  if (special.bos) special.bos_text = text(*special.bos);
  if (!special.eos.empty()) special.eos_text = text(special.eos.front());
  return special;
}

std::vector<TokenId> Model::chat_tokens(const std::vector<ChatTurn>& turns) const {
  std::vector<ChatMessage> messages;
  for (const ChatTurn& turn : turns) messages.push_back({turn.role, turn.content});
  return encode_chat(impl_->require_tokenizer(), messages);
}

const std::string& Model::chat_template() const { return impl_->require_tokenizer().chat_template(); }

std::vector<float> Model::logits(const std::vector<TokenId>& tokens) const {
  check_tokens(*impl_, tokens);
  std::vector<float> all;
  all.reserve(tokens.size() * static_cast<size_t>(vocab_size()));
  Sequence sequence(*impl_);
  sequence.extend(tokens, true, {},
                  [&](std::span<const float> rows) { all.insert(all.end(), rows.begin(), rows.end()); });
  return all;
}

}  // namespace atb

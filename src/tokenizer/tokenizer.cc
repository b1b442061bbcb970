#include "tokenizer/tokenizer.h"

#include "tokenizer/utf8.h"

namespace atb {

std::vector<TokenId> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  const Span span{std::string(text), options.parse_special};
  return encode_spans({&span, 1}, options.add_special);
}

std::string Tokenizer::decode(const std::vector<TokenId>& ids, bool render_special) const {
  StreamDecoder decoder(*this, render_special);
  std::string text;
  for (TokenId id : ids) text += decoder.push(id);
  return text + decoder.flush();
}

std::string StreamDecoder::push(TokenId id) {
  pending_ += tokenizer_.token_bytes(id, render_special_);
  std::string text;
  pending_.erase(0, append_utf8_replaced(pending_, false, text));
  return text;
}

std::string StreamDecoder::flush() {
  std::string text;
  append_utf8_replaced(pending_, true, text);
  pending_.clear();
  return text;
}

}  // namespace atb

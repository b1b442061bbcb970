#include "engine/text_stream.h"

namespace atb {

TextStream::TextStream(const Tokenizer* tokenizer, const GenerateOptions& options, const TextCallback& on_text)
    : stops_(options.stop), on_text_(on_text) {
  if (tokenizer != nullptr) decoder_.emplace(*tokenizer);
}

void TextStream::push(TokenId token) {
  if (decoder_) emit(stops_.push(decoder_->push(token)));
}

void TextStream::finish() {
  if (!decoder_) return;
  emit(stops_.push(decoder_->flush()));
  emit(stops_.flush());
}

void TextStream::emit(const std::string& piece) {
  if (piece.empty() || cancelled_) return;
  text_ += piece;
  if (on_text_) cancelled_ = !on_text_(piece);
}

}  // namespace atb

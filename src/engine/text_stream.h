// From generated tokens to the text that the caller sees: whole characters, nothing of a stop string.
#pragma once

#include <atb/engine.h>

#include <optional>
#include <string>

#include "engine/stop_strings.h"
#include "tokenizer/tokenizer.h"

namespace atb {

class TextStream {
 public:
  /// Without a tokenizer there is no text.
  TextStream(const Tokenizer* tokenizer, const GenerateOptions& options, const TextCallback& on_text);

  void push(TokenId token);
  /// Hands out what was held back. A stop string that the last bytes complete still counts.
  void finish();

  bool stopped() const noexcept { return stops_.matched(); }
  bool cancelled() const noexcept { return cancelled_; }
  const std::string& text() const noexcept { return text_; }

 private:
  void emit(const std::string& piece);

  std::optional<StreamDecoder> decoder_;
  StopStrings stops_;
  const TextCallback& on_text_;
  std::string text_;
  bool cancelled_ = false;
};

}  // namespace atb

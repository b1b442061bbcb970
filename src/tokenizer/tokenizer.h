// Text to token ids and back. Token-exact with the Hugging Face `tokenizers` library for the kinds it supports.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/model_file.h"

namespace atb {

using TokenId = int32_t;

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  struct EncodeOptions {
    bool add_special = true;     ///< add BOS/EOS where the model's file says so
    bool parse_special = false;  ///< text such as <|im_start|> becomes the control token instead of ordinary tokens
  };
  /// Any UTF-8 (invalid bytes are kept by byte-level models). The empty text gives no tokens (or BOS alone).
  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const;

  /// A part of a text; control tokens are recognised only where they lie wholly within a trusted part.
  struct Span {
    std::string text;
    bool trusted;
  };
  /// Encodes the spans as the one text that they are together.
  virtual std::vector<TokenId> encode_spans(std::span<const Span> spans, bool add_special) const = 0;

  /// The bytes of one token. Control tokens give nothing unless `render_special`.
  virtual std::string token_bytes(TokenId id, bool render_special) const = 0;

  virtual int64_t vocab_size() const = 0;
  virtual std::string_view token_text(TokenId id) const = 0;  ///< as the vocabulary spells it
  virtual std::optional<TokenId> find_token(std::string_view text) const = 0;
  virtual bool is_control(TokenId id) const = 0;
  virtual std::optional<TokenId> bos() const = 0;
  virtual const std::vector<TokenId>& eos() const = 0;   ///< every token that ends generation (eos, eot, eom)
  virtual const std::string& chat_template() const = 0;  ///< Jinja source, empty if the model has none
  virtual bool adds_bos() const = 0;

  /// The text of the tokens as valid UTF-8: what can never become a character is U+FFFD.
  std::string decode(const std::vector<TokenId>& ids, bool render_special = false) const;
};

/// Collects the bytes of a token stream and hands out only whole characters: a split character waits for its rest;
/// bytes that can never become one come out as U+FFFD, as Python's bytes.decode(errors="replace") does.
class StreamDecoder {
 public:
  explicit StreamDecoder(const Tokenizer& tokenizer, bool render_special = false)
      : tokenizer_(tokenizer), render_special_(render_special) {}
  std::string push(TokenId id);
  std::string flush();  ///< what is left at the end

 private:
  const Tokenizer& tokenizer_;
  bool render_special_;
  std::string pending_;
};

/// The tokenizer that the model's file describes (GGUF: tokenizer.ggml.*; Hugging Face: tokenizer.json beside the
/// weights). Error{kModel} names what is missing or not supported; a missing or unknown `tokenizer.ggml.pre` is an
/// error or a WARN line, never silent.
std::unique_ptr<Tokenizer> load_tokenizer(const ModelFile& file);

struct ChatMessage {
  std::string role, content;
};
/// Renders a conversation with the model's chat template, ending where the assistant speaks. The well-known templates
/// are built in (recognised by their text); another one is Error{kModel} that says to use the Python side. The result
/// is to be encoded with parse_special = true and add_special = false; user text cannot smuggle in control tokens: see
/// encode_chat.
std::string render_chat(const Tokenizer& tokenizer, const std::vector<ChatMessage>& messages);

/// Token ids of render_chat in which only the template's own markers become control tokens, never the messages' text,
/// and BOS appears exactly once if the model wants it.
std::vector<TokenId> encode_chat(const Tokenizer& tokenizer, const std::vector<ChatMessage>& messages);

}  // namespace atb

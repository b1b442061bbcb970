// The words of a graph's text.
#pragma once

#include <string>
#include <string_view>

namespace atb {

enum class TokenKind {
  kEnd,
  kName,    ///< rms_norm
  kValue,   ///< %h: text is "h"
  kString,  ///< "a\nb": text is unescaped
  kNumber,  ///< without a sign: 12, 0.5, 1e-05
  kMark     ///< one of { } ( ) [ ] , : = @ + - *
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  size_t offset = 0;  ///< into the whole text
};

/// Error{kModel} at a place of the text, as "line 3, column 7".
[[noreturn]] void text_error(std::string_view text, size_t offset, const std::string& message,
                             const std::string& hint = "");

class Lexer {
 public:
  /// `text` must outlive the lexer.
  explicit Lexer(std::string_view text) : text_(text) {}

  /// Error{kModel} for a character or a string that starts no word. A '#' starts a comment up to the end of the line.
  Token next();
  std::string_view text() const noexcept { return text_; }

 private:
  void skip_blanks();
  std::string take_string();
  char take_escape();
  std::string take_number();
  template <class Predicate>
  std::string take_while(Predicate predicate);

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace atb

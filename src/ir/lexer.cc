#include "ir/lexer.h"

#include <atb/error.h>

#include <algorithm>

#include "ir/names.h"

namespace atb {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_value_char(c) && c != '.'; }

int hex_value(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

void text_error(std::string_view text, size_t offset, const std::string& message, const std::string& hint) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 is 0
  throw Error(ErrorCode::kModel, message,
              "line " + std::to_string(line) + ", column " + std::to_string(offset - line_start + 1), hint);
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    if (text_[at_] == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    } else {
      return;
    }
  }
}

template <class Predicate>
std::string Lexer::take_while(Predicate predicate) {
  const size_t start = at_;
  while (at_ < text_.size() && predicate(text_[at_])) ++at_;
  return std::string(text_.substr(start, at_ - start));
}

char Lexer::take_escape() {
  const size_t start = at_++;
  const char kind = at_ < text_.size() ? text_[at_++] : '\0';
  if (kind == 'n') return '\n';
  if (kind == 't') return '\t';
  if (kind == '"' || kind == '\\') return kind;
  const int high = kind == 'x' && at_ + 1 < text_.size() ? hex_value(text_[at_]) : -1;
  const int low = high >= 0 ? hex_value(text_[at_ + 1]) : -1;
  if (low < 0) text_error(text_, start, "unknown escape in a string", R"(write \", \\, \n, \t or \xNN)");
  at_ += 2;
  return static_cast<char>(high * 16 + low);
}

std::string Lexer::take_string() {
  const size_t start = at_++;
  std::string value;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n')
    value += text_[at_] == '\\' ? take_escape() : text_[at_++];
  if (at_ >= text_.size() || text_[at_] != '"') text_error(text_, start, "a string has no end", "close it with \"");
  ++at_;
  return value;
}

// 12, 0.5, 1e-05. A sign is only part of the number behind its exponent's e.
std::string Lexer::take_number() {
  std::string number = take_while([](char c) { return is_digit(c) || c == '.'; });
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    number += text_[at_++];
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) number += text_[at_++];
    number += take_while(is_digit);
  }
  return number;
}

Token Lexer::next() {
  skip_blanks();
  const size_t start = at_;
  if (start == text_.size()) return {TokenKind::kEnd, "", start};
  const char c = text_[start];
  if (is_digit(c)) return {TokenKind::kNumber, take_number(), start};
  if (is_word(c)) return {TokenKind::kName, take_while(is_word), start};
  if (c == '"') return {TokenKind::kString, take_string(), start};
  ++at_;
  if (c == '%') {
    std::string name = take_while(is_value_char);
    if (name.empty()) text_error(text_, start, "a % without a name", "write %name");
    return {TokenKind::kValue, std::move(name), start};
  }
  if (std::string_view("{}()[],:=@+-*").find(c) == std::string_view::npos)
    text_error(text_, start, "unexpected character " + quoted(std::string(1, c)));
  return {TokenKind::kMark, std::string(1, c), start};
}

}  // namespace atb

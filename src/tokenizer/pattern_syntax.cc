// Oniguruma (Ruby syntax) to PCRE2. Rewritten: \s and \S, which are Unicode's White_Space there and a little more here,
// and the categories, which lack the newest characters here. Refused, because they would silently mean something else:
// see `refuse` below.
#include <atb/error.h>
#include <fmt/format.h>

#include "tokenizer/pattern.h"
#include "tokenizer/unicode_additions.h"

namespace atb {
namespace {

/// White_Space, as members of a character class.
constexpr std::string_view kSpaces =
    R"(\t-\r\x{20}\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";

/// Letters that mean the same after a backslash; so does every character that is no letter or digit.
constexpr std::string_view kSameEscapes = "pPdDnrtfaex";

class Translator {
 public:
  Translator(std::string_view expression, const std::string& where) : in_(expression), where_(where) {}

  std::string run() {
    while (at_ < in_.size()) {
      if (in_[at_] == '\\') {
        escape();
      } else if (in_class_) {
        class_member();
      } else {
        outside();
      }
    }
    return out_;
  }

 private:
  [[noreturn]] void refuse(std::string_view what) const {
    throw Error(ErrorCode::kModel, fmt::format("pre-tokenizer pattern uses {} at byte {} of {}", what, at_, in_),
                where_, "write the pattern without it");
  }
  char peek(size_t ahead) const { return at_ + ahead < in_.size() ? in_[at_ + ahead] : '\0'; }
  void copy(size_t count) {
    out_ += in_.substr(at_, count);
    at_ += count;
  }
  void replace(size_t count, const std::string& text) {
    out_ += text;
    at_ += count;
  }

  void escape() {
    const char c = peek(1);
    const bool alphanumeric = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
    if (c == 's') return replace(2, in_class_ ? std::string(kSpaces) : fmt::format("[{}]", kSpaces));
    if (c == 'S' && !in_class_) return replace(2, fmt::format("[^{}]", kSpaces));
    if (alphanumeric && kSameEscapes.find(c) == std::string_view::npos) refuse(fmt::format("\\{}", c));
    if (c == 'p' || c == 'P') return property(c == 'P');
    copy(2);
    if (c == 'x' && peek(0) == '{') copy_braces();
  }

  void property(bool negated) {
    const size_t end = in_.find('}', at_);
    if (peek(2) != '{' || peek(3) == '^' || end == std::string_view::npos) refuse("this form of a property");
    const std::string_view name = in_.substr(at_ + 3, end - at_ - 3);
    const std::string added = unicode_additions(name);
    const size_t length = end + 1 - at_;
    if (added.empty()) return copy(length);
    if (negated && in_class_) refuse("a negated category within a class");
    const std::string members = fmt::format("\\p{{{}}}{}", name, added);
    if (in_class_) return replace(length, members);
    replace(length, (negated ? "[^" : "[") + members + "]");
  }

  void copy_braces() {
    const size_t end = in_.find('}', at_);
    if (end == std::string_view::npos) refuse("an open brace");
    copy(end + 1 - at_);
  }

  void class_member() {
    const char c = in_[at_];
    if (c == '[') refuse("a class within a class");
    if (c == '&' && peek(1) == '&') refuse("an intersection of classes");
    if (c == ']' && out_.size() > class_begin_) in_class_ = false;
    copy(1);
  }

  void outside() {
    const char c = in_[at_];
    if (c == '[') {
      in_class_ = true;
      copy(peek(1) == '^' ? 2 : 1);
      class_begin_ = out_.size();
    } else if (c == '(' && peek(1) == '?') {
      group();
    } else if (c == '{') {
      copy_braces();
      if (peek(0) == '+') refuse("a possessive interval");  // in Ruby it repeats the interval
    } else {
      copy(1);
    }
  }

  void group() {
    const bool plain = std::string_view(":=!<>").find(peek(2)) != std::string_view::npos;
    if (!plain && !(peek(2) == 'i' && peek(3) == ':')) refuse("an option group");
    copy(plain ? 3 : 4);
  }

  std::string_view in_;
  const std::string& where_;
  std::string out_;
  size_t at_ = 0;
  bool in_class_ = false;
  size_t class_begin_ = 0;  ///< where the members of the open class begin in out_
};

}  // namespace

std::string translate_pattern(std::string_view expression, const std::string& where) {
  return Translator(expression, where).run();
}

}  // namespace atb

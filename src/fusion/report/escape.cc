#include "fusion/report/escape.h"

#include <fmt/format.h>

namespace atb {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }
bool is_continuation(unsigned char c) { return (c & 0xC0) == 0x80; }

/// Length of the UTF-8 sequence at the front of `text`; 0 if it is none (also for overlong forms and surrogates).
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xC2 && lead < 0xE0 ? 2 : lead >= 0xE0 && lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  if (lead < 0xC2 || length == 0 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if (!is_continuation(byte(i))) return 0;
  const bool overlong = (lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xF0 && byte(1) < 0x90);
  const bool beyond = (lead == 0xED && byte(1) >= 0xA0) || (lead == 0xF4 && byte(1) >= 0x90);
  return overlong || beyond ? 0 : length;
}

/// Each character of the text through `one`; what is no UTF-8 becomes the replacement character.
template <class One>
std::string escape(std::string_view text, One one) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 1) {
      out += one(text[0]);
    } else {
      out += length == 0 ? std::string_view(kReplacement) : text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string html_character(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return is_control(static_cast<unsigned char>(c)) ? kReplacement : std::string(1, c);
  }
}

std::string dot_character(char c) {
  if (c == '"' || c == '\\') return std::string("\\") + c;
  return is_control(static_cast<unsigned char>(c)) ? kReplacement : std::string(1, c);
}

}  // namespace

std::string for_terminal(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    out += is_control(byte) ? fmt::format("\\x{:02x}", byte) : std::string(1, c);
  }
  return out;
}

std::string for_html(std::string_view text) { return escape(text, html_character); }
std::string for_dot(std::string_view text) { return escape(text, dot_character); }

}  // namespace atb

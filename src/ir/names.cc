#include "ir/names.h"

#include <algorithm>

namespace atb {
namespace {

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
bool is_word(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || is_digit(c); }

}  // namespace

bool is_value_char(char c) noexcept { return is_word(c) || c == '.'; }

bool is_value_name(std::string_view name) noexcept {
  return !name.empty() && std::all_of(name.begin(), name.end(), is_value_char);
}

bool is_symbol_name(std::string_view name) noexcept {
  return !name.empty() && !is_digit(name[0]) && std::all_of(name.begin(), name.end(), is_word);
}

std::string quoted(std::string_view text) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace atb

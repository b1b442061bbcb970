// UTF-8 as Unicode's table 3-7 defines it: what is a character, what is an incomplete one, what never becomes one.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace atb {

/// What a text starts with. `length` bytes are, by `kind`: a whole character; a maximal part of a character that can
/// no longer become one; or the beginning of a character that ends with the text.
struct Utf8Head {
  enum Kind { kCharacter, kInvalid, kIncomplete } kind;
  size_t length;
};

/// `text` must not be empty. Overlong forms, surrogates and values above U+10FFFF are invalid.
Utf8Head utf8_head(std::string_view text) noexcept;

/// Length of the longest prefix that is valid UTF-8.
size_t valid_utf8_prefix(std::string_view text) noexcept;

/// Appends `bytes` to `out` with each maximal invalid part as U+FFFD (what Python's errors="replace" does) and returns
/// how many bytes were used: all of them, but for an incomplete character at the end, which is left unless `final`.
size_t append_utf8_replaced(std::string_view bytes, bool final, std::string& out);

/// Appends the character `code` (a scalar value) in UTF-8.
void append_utf8(char32_t code, std::string& out);

/// The character that `text` starts with, as its code; `text` must start with a whole character.
char32_t utf8_code(std::string_view text) noexcept;

bool is_ascii(std::string_view text) noexcept;

/// Unicode's White_Space property.
bool is_white_space(char32_t code) noexcept;

}  // namespace atb

// The alphabet of byte-level vocabularies (Radford et al. 2019, GPT-2): each of the 256 bytes is spelled as one
// printable character. Bytes that print in Latin-1 stand for themselves; the others, in order, are U+0100, U+0101, ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace atb {

/// The spelling (UTF-8, one or two bytes) of one byte.
std::string_view spell_byte(uint8_t byte) noexcept;

/// The spelling of a text.
std::string spell_bytes(std::string_view bytes);

/// The bytes that `text` spells; nothing if one of its characters is not of the alphabet.
std::optional<std::string> unspell_bytes(std::string_view text);

}  // namespace atb

#include "tokenizer/byte_alphabet.h"

#include <array>

#include "tokenizer/utf8.h"

namespace atb {
namespace {

constexpr int kAlphabetEnd = 0x100 + 68;  ///< 68 bytes do not print in Latin-1

struct Alphabet {
  std::array<std::string, 256> spelling;
  std::array<int16_t, kAlphabetEnd> byte_of;

  Alphabet() {
    byte_of.fill(-1);
    char32_t next = 0x100;
    for (int byte = 0; byte < 256; ++byte) {
      const bool prints = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
      const char32_t code = prints ? static_cast<char32_t>(byte) : next++;
      append_utf8(code, spelling[byte]);
      byte_of[code] = static_cast<int16_t>(byte);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet instance;
  return instance;
}

}  // namespace

std::string_view spell_byte(uint8_t byte) noexcept { return alphabet().spelling[byte]; }

std::string spell_bytes(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (char byte : bytes) text += spell_byte(static_cast<uint8_t>(byte));
  return text;
}

std::optional<std::string> unspell_bytes(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const Utf8Head head = utf8_head(text);
    if (head.kind != Utf8Head::kCharacter) return std::nullopt;
    const char32_t code = utf8_code(text);
    if (code >= kAlphabetEnd || alphabet().byte_of[code] < 0) return std::nullopt;
    bytes.push_back(static_cast<char>(alphabet().byte_of[code]));
    text.remove_prefix(head.length);
  }
  return bytes;
}

}  // namespace atb

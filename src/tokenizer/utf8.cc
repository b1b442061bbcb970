#include "tokenizer/utf8.h"

#include <algorithm>
#include <cstdint>

namespace atb {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

uint8_t byte_at(std::string_view text, size_t i) { return static_cast<uint8_t>(text[i]); }

/// One line of table 3-7: lead bytes up to `last_lead`, the length, and the bounds of the second byte.
struct LeadRange {
  uint8_t last_lead, length, second_low, second_high;
};
constexpr LeadRange kLeads[] = {
    {0x7F, 1, 0, 0},       {0xC1, 0, 0, 0},       {0xDF, 2, 0x80, 0xBF}, {0xE0, 3, 0xA0, 0xBF},
    {0xEC, 3, 0x80, 0xBF}, {0xED, 3, 0x80, 0x9F}, {0xEF, 3, 0x80, 0xBF}, {0xF0, 4, 0x90, 0xBF},
    {0xF3, 4, 0x80, 0xBF}, {0xF4, 4, 0x80, 0x8F}, {0xFF, 0, 0, 0},
};

}  // namespace

Utf8Head utf8_head(std::string_view text) noexcept {
  const uint8_t lead = byte_at(text, 0);
  const LeadRange& range =
      *std::find_if(std::begin(kLeads), std::end(kLeads), [&](const LeadRange& r) { return lead <= r.last_lead; });
  if (range.length == 0) return {Utf8Head::kInvalid, 1};
  for (size_t i = 1; i < range.length; ++i) {
    if (i == text.size()) return {Utf8Head::kIncomplete, i};
    const uint8_t low = i == 1 ? range.second_low : 0x80, high = i == 1 ? range.second_high : 0xBF;
    if (byte_at(text, i) < low || byte_at(text, i) > high) return {Utf8Head::kInvalid, i};
  }
  return {Utf8Head::kCharacter, range.length};
}

size_t valid_utf8_prefix(std::string_view text) noexcept {
  size_t used = 0;
  while (used < text.size()) {
    const Utf8Head head = utf8_head(text.substr(used));
    if (head.kind != Utf8Head::kCharacter) break;
    used += head.length;
  }
  return used;
}

size_t append_utf8_replaced(std::string_view bytes, bool final, std::string& out) {
  size_t used = 0;
  while (used < bytes.size()) {
    const size_t valid = valid_utf8_prefix(bytes.substr(used));
    out.append(bytes.substr(used, valid));
    used += valid;
    if (used == bytes.size()) break;
    const Utf8Head head = utf8_head(bytes.substr(used));
    if (head.kind == Utf8Head::kIncomplete && !final) break;
    out.append(kReplacement);
    used += head.length;
  }
  return used;
}

void append_utf8(char32_t code, std::string& out) {
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  const auto put_tail = [&](int shift) { put(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
    return put_tail(0);
  }
  if (code < 0x10000) {
    put(0xE0 | (code >> 12));
  } else {
    put(0xF0 | (code >> 18));
    put_tail(12);
  }
  put_tail(6);
  put_tail(0);
}

char32_t utf8_code(std::string_view text) noexcept {
  constexpr uint8_t kLeadBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  const size_t length = utf8_head(text).length;
  char32_t code = byte_at(text, 0) & kLeadBits[length];
  for (size_t i = 1; i < length; ++i) code = (code << 6) | (byte_at(text, i) & 0x3F);
  return code;
}

bool is_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<uint8_t>(c) < 0x80; });
}

bool is_white_space(char32_t c) noexcept {
  return (c >= 0x09 && c <= 0x0D) || c == 0x20 || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

}  // namespace atb

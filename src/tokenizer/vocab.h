// The vocabulary: spelling and kind of each token, and the way back from spelling to id.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace atb {

/// Values as in GGUF's tokenizer.ggml.token_type.
enum class TokenKind : uint8_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

class Vocab {
 public:
  Vocab() = default;
  /// tokens[i] is the spelling of id i, kinds[i] its kind (same length). An empty spelling is a hole that no text
  /// finds; of two equal spellings the first is found (WARN names `where`).
  Vocab(const std::vector<std::string_view>& tokens, std::vector<TokenKind> kinds, const std::string& where);

  TokenId size() const { return static_cast<TokenId>(kinds_.size()); }
  bool contains(int64_t id) const { return id >= 0 && id < size(); }
  std::string_view text(TokenId id) const {
    return std::string_view(texts_).substr(begins_[id], begins_[id + 1] - begins_[id]);
  }
  TokenKind kind(TokenId id) const { return kinds_[id]; }
  std::optional<TokenId> find(std::string_view text) const;

  /// The byte of a token spelled <0xEA>; nothing for other spellings.
  static std::optional<uint8_t> parse_byte_token(std::string_view text);
  /// "<0xEA>"
  static std::string byte_token(uint8_t byte);

 private:
  struct Slot {
    uint32_t hash;
    TokenId id;  ///< -1: free
  };
  size_t find_slot(std::string_view text, uint32_t hash) const;
  size_t index(TokenId id);  ///< returns 1 if the spelling is there already

  std::string texts_;             ///< all spellings, one after the other
  std::vector<uint32_t> begins_;  ///< size() + 1 offsets into texts_
  std::vector<TokenKind> kinds_;
  std::vector<Slot> slots_;  ///< open addressing, a power of two, at most half full
};

}  // namespace atb

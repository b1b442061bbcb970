#include "tokenizer/vocab.h"

#include <fmt/format.h>

#include <bit>
#include <functional>
#include <limits>

#include "base/check.h"
#include "base/log.h"

namespace atb {
namespace {

uint32_t hash_of(std::string_view text) { return static_cast<uint32_t>(std::hash<std::string_view>{}(text)); }

void check_sizes(const std::vector<std::string_view>& tokens, const std::string& where) {
  size_t bytes = 0;
  for (std::string_view token : tokens) bytes += token.size();
  const size_t limit = std::numeric_limits<int32_t>::max();
  if (tokens.size() < limit / 2 && bytes < limit) return;
  throw Error(ErrorCode::kModel,
              fmt::format("a vocabulary of {} tokens with {} bytes is larger than 2 GiB", tokens.size(), bytes), where,
              "check the file");
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Vocab::Vocab(const std::vector<std::string_view>& tokens, std::vector<TokenKind> kinds, const std::string& where)
    : kinds_(std::move(kinds)) {
  ATB_CHECK(tokens.size() == kinds_.size());
  check_sizes(tokens, where);
  begins_.reserve(tokens.size() + 1);
  begins_.push_back(0);
  for (std::string_view token : tokens) {
    texts_ += token;
    begins_.push_back(static_cast<uint32_t>(texts_.size()));
  }
  slots_.assign(std::bit_ceil(2 * tokens.size() + 2), Slot{0, -1});
  size_t repeated = 0;
  for (TokenId id = 0; id < size(); ++id) repeated += index(id);
  if (repeated)
    log_warn(fmt::format("{}: {} tokens are spelled like an earlier token; the first is used", where, repeated));
}

size_t Vocab::find_slot(std::string_view text, uint32_t hash) const {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at].id >= 0 && (slots_[at].hash != hash || this->text(slots_[at].id) != text)) at = (at + 1) & mask;
  return at;
}

size_t Vocab::index(TokenId id) {
  if (text(id).empty()) return 0;
  const uint32_t hash = hash_of(text(id));
  Slot& slot = slots_[find_slot(text(id), hash)];
  if (slot.id >= 0) return 1;
  slot = {hash, id};
  return 0;
}

std::optional<TokenId> Vocab::find(std::string_view text) const {
  if (slots_.empty()) return std::nullopt;
  const TokenId id = slots_[find_slot(text, hash_of(text))].id;
  if (id < 0) return std::nullopt;
  return id;
}

std::optional<uint8_t> Vocab::parse_byte_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text.back() != '>') return std::nullopt;
  const int high = hex_digit(text[3]), low = hex_digit(text[4]);
  if (high < 0 || low < 0) return std::nullopt;
  return static_cast<uint8_t>(16 * high + low);
}

std::string Vocab::byte_token(uint8_t byte) { return fmt::format("<0x{:02X}>", byte); }

}  // namespace atb

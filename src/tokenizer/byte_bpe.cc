#include "tokenizer/byte_bpe.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "base/log.h"
#include "tokenizer/byte_alphabet.h"

namespace atb {
namespace {

class ByteBpe : public Tokenizer {
 public:
  explicit ByteBpe(ByteBpeParts parts) : parts_(std::move(parts)) { find_byte_tokens(); }

  std::vector<TokenId> encode_spans(std::span<const Span> spans, bool add_special) const override;
  std::string token_bytes(TokenId id, bool render_special) const override;

  int64_t vocab_size() const override { return parts_.vocab.size(); }
  std::string_view token_text(TokenId id) const override { return parts_.vocab.text(checked(id)); }
  std::optional<TokenId> find_token(std::string_view text) const override { return parts_.vocab.find(text); }
  bool is_control(TokenId id) const override {
    const TokenKind kind = parts_.vocab.kind(checked(id));
    return kind == TokenKind::kControl || kind == TokenKind::kUnknown;
  }
  std::optional<TokenId> bos() const override { return parts_.bos; }
  const std::vector<TokenId>& eos() const override { return parts_.eos; }
  const std::string& chat_template() const override { return parts_.chat_template; }
  bool adds_bos() const override { return parts_.bos && !parts_.prefix.empty() && parts_.prefix[0] == *parts_.bos; }

 private:
  TokenId checked(TokenId id) const;
  void find_byte_tokens();
  std::vector<Fragment> fragments(std::span<const Span> spans) const;
  void encode_text(std::string_view text, Merger& merger, std::vector<TokenId>& ids) const;
  bool append_whole_piece(std::string_view piece, std::vector<TokenId>& ids) const;

  ByteBpeParts parts_;
  std::array<TokenId, 256> byte_tokens_;  ///< -1: the byte is dropped
};

TokenId ByteBpe::checked(TokenId id) const {
  if (parts_.vocab.contains(id)) return id;
  throw Error(ErrorCode::kUsage, fmt::format("token id {} is not in the vocabulary of {} tokens", id, vocab_size()),
              parts_.source, "use ids that this model's tokenizer gave");
}

void ByteBpe::find_byte_tokens() {
  int missing = 0;
  for (int byte = 0; byte < 256; ++byte) {
    std::optional<TokenId> id = parts_.vocab.find(spell_byte(static_cast<uint8_t>(byte)));
    if (!id) id = parts_.vocab.find(Vocab::byte_token(static_cast<uint8_t>(byte)));
    if (!id) ++missing;
    byte_tokens_[byte] = id ? *id : parts_.unknown.value_or(-1);
  }
  if (missing == 0) return;
  log_info(fmt::format("{}: the vocabulary has no token for {} of the 256 bytes; text with them {}", parts_.source,
                       missing, parts_.unknown ? "becomes the unknown token" : "loses them"));
}

std::vector<Fragment> ByteBpe::fragments(std::span<const Span> spans) const {
  std::vector<Fragment> raw, out;
  for (const Span& span : spans) {
    raw.clear();
    parts_.raw_added.split(span.text, span.trusted, raw);
    for (Fragment& fragment : raw) {
      if (fragment.token) {
        out.push_back(std::move(fragment));
      } else {
        parts_.normalized_added.split(normalize(fragment.text, parts_.normal_forms), span.trusted, out);
      }
    }
  }
  return strip_and_join(std::move(out));
}

std::vector<TokenId> ByteBpe::encode_spans(std::span<const Span> spans, bool add_special) const {
  std::vector<TokenId> ids;
  if (add_special) ids = parts_.prefix;
  Merger merger(parts_.merges);
  for (const Fragment& fragment : fragments(spans)) {
    if (fragment.token) {
      ids.push_back(fragment.token->id);
    } else {
      encode_text(fragment.text, merger, ids);
    }
  }
  if (add_special) ids.insert(ids.end(), parts_.suffix.begin(), parts_.suffix.end());
  return ids;
}

void ByteBpe::encode_text(std::string_view text, Merger& merger, std::vector<TokenId>& ids) const {
  std::deque<std::string> added;
  std::vector<TokenId> symbols;
  for (std::string_view piece : parts_.pre_tokenizer.split(text, added)) {
    if (parts_.ignore_merges && append_whole_piece(piece, ids)) continue;
    symbols.clear();
    for (char byte : piece) {
      const TokenId id = byte_tokens_[static_cast<uint8_t>(byte)];
      if (id >= 0) symbols.push_back(id);
    }
    merger.merge(symbols);
    ids.insert(ids.end(), symbols.begin(), symbols.end());
  }
}

bool ByteBpe::append_whole_piece(std::string_view piece, std::vector<TokenId>& ids) const {
  const std::optional<TokenId> id = parts_.vocab.find(spell_bytes(piece));
  if (!id || parts_.vocab.kind(*id) != TokenKind::kNormal) return false;
  ids.push_back(*id);
  return true;
}

std::string ByteBpe::token_bytes(TokenId id, bool render_special) const {
  const std::string_view text = token_text(id);
  switch (parts_.vocab.kind(id)) {
    case TokenKind::kControl:
    case TokenKind::kUnknown:
      return render_special ? std::string(text) : "";
    case TokenKind::kUserDefined:
      return std::string(text);
    case TokenKind::kByte:
      if (const auto byte = Vocab::parse_byte_token(text)) return std::string(1, static_cast<char>(*byte));
      return std::string(text);
    default:
      return unspell_bytes(text).value_or(std::string(text));
  }
}

}  // namespace

std::unique_ptr<Tokenizer> make_byte_bpe(ByteBpeParts parts) { return std::make_unique<ByteBpe>(std::move(parts)); }

void add_merge(const Vocab& vocab, std::string_view left, std::string_view right, size_t index,
               const std::string& source, MergeTable& merges) {
  std::string joined(left);
  joined += right;
  const auto id_of = [&](std::string_view text) {
    if (const auto id = vocab.find(text)) return *id;
    throw Error(
        ErrorCode::kModel,
        fmt::format("merge {} joins \"{}\" and \"{}\", but \"{}\" is not in the vocabulary", index, left, right, text),
        source, "the file is damaged or was converted wrongly; get it again");
  };
  const TokenId left_id = id_of(left), right_id = id_of(right);
  merges.add(left_id, right_id, id_of(joined));
}

void add_merge_line(const Vocab& vocab, std::string_view line, size_t index, const std::string& source,
                    MergeTable& merges) {
  const size_t space = line.find(' ');
  if (space == 0 || space == std::string_view::npos || space + 1 == line.size() ||
      line.find(' ', space + 1) != line.npos) {
    throw Error(ErrorCode::kModel,
                fmt::format("merge {} is \"{}\", expected two tokens with one space between", index, line), source,
                "the file is damaged or was converted wrongly; get it again");
  }
  add_merge(vocab, line.substr(0, space), line.substr(space + 1), index, source, merges);
}

void add_known_eos(const Vocab& vocab, std::vector<TokenId>& eos) {
  constexpr std::string_view kKnown[] = {"<|im_end|>", "<|eot_id|>",    "<|eom_id|>",   "<|end_of_text|>",
                                         "<|end|>",    "<end_of_turn>", "<|endoftext|>"};
  for (std::string_view text : kKnown) {
    const auto id = vocab.find(text);
    if (!id || vocab.kind(*id) != TokenKind::kControl) continue;
    if (std::find(eos.begin(), eos.end(), *id) == eos.end()) eos.push_back(*id);
  }
}

}  // namespace atb

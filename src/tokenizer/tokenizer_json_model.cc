#include <fmt/format.h>

#include "tokenizer/tokenizer_json.h"

namespace atb {
namespace {

const Json::Array& added_tokens(const Json& root) {
  static const Json::Array none;
  const auto* list = JsonReader::member(root, "added_tokens").as<Json::Array>();
  return list ? *list : none;
}

void check_model(const JsonReader& reader, const Json& model) {
  const auto* type = JsonReader::member(model, "type").as<std::string>();
  if (type && *type != "BPE") reader.unsupported(fmt::format("model.type is \"{}\", supported: BPE", *type));
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const auto* affix = JsonReader::member(model, key).as<std::string>();
    if (affix && !affix->empty()) reader.unsupported(fmt::format("model.{} is \"{}\", supported: none", key, *affix));
  }
}

/// Collects spellings by id.
class VocabBuilder {
 public:
  /// Ids may have holes (padding), but not so many that a small file asks for much memory.
  VocabBuilder(const JsonReader& reader, size_t entries) : reader_(reader), limit_(2 * entries + 65536) {}

  void place(std::string_view token, int64_t id, TokenKind kind) {
    if (id < 0 || static_cast<size_t>(id) >= limit_) {
      reader_.damaged(fmt::format("token \"{}\" has id {}, expected 0 ... {}", token, id, limit_ - 1));
    }
    const auto at = static_cast<size_t>(id);
    if (at >= tokens_.size()) {
      tokens_.resize(at + 1);
      kinds_.resize(at + 1, TokenKind::kUnused);
    }
    if (!tokens_[at].empty() && tokens_[at] != token) {
      reader_.damaged(fmt::format("tokens \"{}\" and \"{}\" both have id {}", tokens_[at], token, id));
    }
    tokens_[at] = token;
    kinds_[at] = kind;
  }

  Vocab build() { return Vocab(tokens_, std::move(kinds_), reader_.path()); }

 private:
  const JsonReader& reader_;
  size_t limit_;
  std::vector<std::string_view> tokens_;
  std::vector<TokenKind> kinds_;
};

Vocab read_vocab(const JsonReader& reader, const Json& root, const Json& model) {
  const auto* vocab = JsonReader::member(model, "vocab").as<Json::Object>();
  if (!vocab) reader.damaged("\"model.vocab\" should be an object");
  const Json::Array& added = added_tokens(root);
  const bool byte_fallback = reader.flag(model, "byte_fallback", false);
  VocabBuilder builder(reader, vocab->size() + added.size());
  for (const JsonMember& entry : *vocab) {
    const auto* id = entry.value.as<int64_t>();
    if (!id) reader.damaged(fmt::format("the id of \"{}\" is {}, expected an integer", entry.key, entry.value.kind()));
    const bool is_byte = byte_fallback && Vocab::parse_byte_token(entry.key);
    builder.place(entry.key, *id, is_byte ? TokenKind::kByte : TokenKind::kNormal);
  }
  for (const Json& token : added) {
    const bool special = reader.flag(token, "special", false);
    builder.place(reader.text(token, "content"), reader.integer(token, "id"),
                  special ? TokenKind::kControl : TokenKind::kUserDefined);
  }
  return builder.build();
}

void read_merge(const JsonReader& reader, const Json& merge, size_t index, ByteBpeParts& parts) {
  if (const auto* line = merge.as<std::string>()) {
    return add_merge_line(parts.vocab, *line, index, reader.path(), parts.merges);
  }
  const auto* pair = merge.as<Json::Array>();
  const auto* left = pair && pair->size() == 2 ? (*pair)[0].as<std::string>() : nullptr;
  const auto* right = left ? (*pair)[1].as<std::string>() : nullptr;
  if (!right) reader.damaged(fmt::format("merge {} is {}, expected two tokens", index, merge.kind()));
  add_merge(parts.vocab, *left, *right, index, reader.path(), parts.merges);
}

void read_added(const JsonReader& reader, const Json& root, ByteBpeParts& parts) {
  std::vector<AddedToken> raw, normalized;
  for (const Json& added : added_tokens(root)) {
    const bool special = reader.flag(added, "special", false);
    auto& side = reader.flag(added, "normalized", !special) ? normalized : raw;
    side.push_back({.text = reader.text(added, "content"),
                    .id = static_cast<TokenId>(reader.integer(added, "id")),
                    .control = special,
                    .strip_left = reader.flag(added, "lstrip", false),
                    .strip_right = reader.flag(added, "rstrip", false),
                    .single_word = reader.flag(added, "single_word", false)});
  }
  parts.raw_added = AddedTokens(std::move(raw));
  parts.normalized_added = AddedTokens(std::move(normalized));
}

}  // namespace

void read_hf_model(const JsonReader& reader, const Json& root, ByteBpeParts& parts) {
  const Json& model = JsonReader::member(root, "model");
  check_model(reader, model);
  parts.vocab = read_vocab(reader, root, model);
  parts.ignore_merges = reader.flag(model, "ignore_merges", false);
  const auto* unknown = JsonReader::member(model, "unk_token").as<std::string>();
  if (unknown) parts.unknown = parts.vocab.find(*unknown);
  const Json::Array& merges = reader.list(model, "merges");
  parts.merges = MergeTable(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) read_merge(reader, merges[i], i, parts);
  read_added(reader, root, parts);
}

}  // namespace atb

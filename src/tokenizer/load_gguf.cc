// Byte-level BPE from GGUF metadata (tokenizer.ggml.*).
#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/log.h"
#include "tokenizer/byte_bpe.h"
#include "tokenizer/load.h"

namespace atb {
namespace {

[[noreturn]] void fail(const ModelFile& file, std::string message) {
  throw Error(ErrorCode::kModel, std::move(message), file.path(),
              "the file is damaged or was converted wrongly; get it again");
}

const std::vector<std::string>& require_strings(const ModelFile& file, const char* key) {
  const auto* strings = file.metadata().get_strings(key);
  if (!strings || strings->empty()) fail(file, fmt::format("{} is missing or empty", key));
  return *strings;
}

std::vector<TokenKind> read_kinds(const ModelFile& file, size_t count) {
  const auto values = file.metadata().get_ints("tokenizer.ggml.token_type");
  if (!values) return std::vector<TokenKind>(count, TokenKind::kNormal);
  if (values->size() != count) {
    fail(file, fmt::format("tokenizer.ggml.token_type has {} entries for {} tokens", values->size(), count));
  }
  std::vector<TokenKind> kinds;
  kinds.reserve(count);
  for (int64_t value : *values) {
    if (value < 1 || value > 6) fail(file, fmt::format("token {} has type {}, expected 1-6", kinds.size(), value));
    kinds.push_back(static_cast<TokenKind>(value));
  }
  return kinds;
}

Vocab read_vocab(const ModelFile& file) {
  const auto& tokens = require_strings(file, "tokenizer.ggml.tokens");
  check_vocab_fits(file, static_cast<int64_t>(tokens.size()));
  return Vocab({tokens.begin(), tokens.end()}, read_kinds(file, tokens.size()), file.path());
}

MergeTable read_merges(const ModelFile& file, const Vocab& vocab) {
  const auto* lines = file.metadata().get_strings("tokenizer.ggml.merges");
  if (!lines) fail(file, "tokenizer.ggml.merges is missing");
  MergeTable merges(lines->size());
  for (size_t i = 0; i < lines->size(); ++i) add_merge_line(vocab, (*lines)[i], i, file.path(), merges);
  return merges;
}

AddedTokens read_added(const Vocab& vocab) {
  std::vector<AddedToken> added;
  for (TokenId id = 0; id < vocab.size(); ++id) {
    const TokenKind kind = vocab.kind(id);
    const bool control = kind == TokenKind::kControl || kind == TokenKind::kUnknown;
    if (control || kind == TokenKind::kUserDefined) {
      added.push_back({.text = std::string(vocab.text(id)), .id = id, .control = control});
    }
  }
  return AddedTokens(std::move(added));
}

const NamedPreTokenizer& read_pre_tokenizer(const ModelFile& file) {
  const auto name = file.metadata().get_string("tokenizer.ggml.pre");
  if (name && *name != "default") return named_pre_tokenizer(*name, file.path());
  log_warn(fmt::format("{}: tokenizer.ggml.pre is {}; using \"gpt-2\", which may cut text otherwise than in training",
                       file.path(), name ? "\"default\"" : "missing"));
  return named_pre_tokenizer("gpt-2", file.path());
}

std::optional<TokenId> read_id(const ModelFile& file, const Vocab& vocab, const char* key) {
  const auto id = file.metadata().get_int(key);
  if (!id) return std::nullopt;
  if (!vocab.contains(*id)) fail(file, fmt::format("{} is {}, the vocabulary has {} tokens", key, *id, vocab.size()));
  return static_cast<TokenId>(*id);
}

std::vector<TokenId> read_eos(const ModelFile& file, const Vocab& vocab) {
  std::vector<TokenId> eos;
  for (const char* key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    const auto id = read_id(file, vocab, key);
    if (id && std::find(eos.begin(), eos.end(), *id) == eos.end()) eos.push_back(*id);
  }
  return eos;
}

/// The id that goes before or after every text, if `flag` (or, where the file is silent, `otherwise`) says so.
std::vector<TokenId> read_affix(const ModelFile& file, const char* flag, bool otherwise, std::optional<TokenId> id) {
  if (!file.metadata().get_bool(flag).value_or(otherwise && id)) return {};
  if (!id) fail(file, fmt::format("{} is true, but the file names no such token", flag));
  return {*id};
}

}  // namespace

std::unique_ptr<Tokenizer> load_gguf_byte_bpe(const ModelFile& file) {
  const NamedPreTokenizer& pre = read_pre_tokenizer(file);
  ByteBpeParts parts{.source = file.path(), .vocab = read_vocab(file)};
  parts.merges = read_merges(file, parts.vocab);
  parts.raw_added = read_added(parts.vocab);
  parts.normal_forms = pre.normal_forms;
  parts.pre_tokenizer = pre.build();
  parts.ignore_merges = pre.ignore_merges;
  parts.bos = read_id(file, parts.vocab, "tokenizer.ggml.bos_token_id");
  parts.eos = read_eos(file, parts.vocab);
  parts.prefix = read_affix(file, "tokenizer.ggml.add_bos_token", pre.adds_bos, parts.bos);
  const auto eos = read_id(file, parts.vocab, "tokenizer.ggml.eos_token_id");
  parts.suffix = read_affix(file, "tokenizer.ggml.add_eos_token", false, eos);
  add_known_eos(parts.vocab, parts.eos);
  parts.chat_template = file.metadata().get_string("tokenizer.chat_template").value_or("");
  return make_byte_bpe(std::move(parts));
}

}  // namespace atb

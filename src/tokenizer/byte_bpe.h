// Byte-level byte-pair encoding (GPT-2, Llama 3, Qwen 2, SmolLM, ...). Whatever the file format, a loader fills
// ByteBpeParts; from there on there is one tokenizer.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/merges.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/vocab.h"

namespace atb {

struct ByteBpeParts {
  std::string source;  ///< the file, for messages
  Vocab vocab = {};
  MergeTable merges = MergeTable(0);
  AddedTokens raw_added = AddedTokens({});         ///< found in the text as it is
  AddedTokens normalized_added = AddedTokens({});  ///< found in the rest, after normalisation
  std::vector<NormalForm> normal_forms = {};
  PreTokenizer pre_tokenizer = PreTokenizer({});
  bool ignore_merges = false;                     ///< a piece that is in the vocabulary is that token
  std::optional<TokenId> unknown = {};            ///< stands for bytes that the vocabulary lacks; else they are dropped
  std::vector<TokenId> prefix = {}, suffix = {};  ///< what add_special puts around a text
  std::optional<TokenId> bos = {};
  std::vector<TokenId> eos = {};
  std::string chat_template = {};
};

/// INFO if the vocabulary cannot spell every byte (many lack those that UTF-8 never uses).
std::unique_ptr<Tokenizer> make_byte_bpe(ByteBpeParts parts);

/// Adds the merge of two spellings. Error{kModel} if one of them or their concatenation is not in the vocabulary;
/// `index` is for the message.
void add_merge(const Vocab& vocab, std::string_view left, std::string_view right, size_t index,
               const std::string& source, MergeTable& merges);

/// Adds the merge of a line such as "Ġ t". Error{kModel} also if it is not two spellings with one space between.
void add_merge_line(const Vocab& vocab, std::string_view line, size_t index, const std::string& source,
                    MergeTable& merges);

/// Adds the control tokens of the vocabulary that are known to end a turn or a text ("<|im_end|>", ...) to `eos`.
void add_known_eos(const Vocab& vocab, std::vector<TokenId>& eos);

}  // namespace atb

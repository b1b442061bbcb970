// The pre-tokenisers that GGUF files name. One row each: to add one, add a row (and its Hugging Face form to
// tests/python/test_tokenizer.py, which compares the two).
#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "tokenizer/pre_tokenizer.h"

namespace atb {
namespace {

constexpr std::string_view kGpt2 = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

constexpr std::string_view kNumeric = R"(\p{N})";

// GPT-4 and its relatives; they differ in how many digits make a piece.
#define ATB_GPT4_PATTERN(digits)                                       \
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|" digits \
  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"                                   \
  "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

// GPT-4o's cut between lower and upper case.
#define ATB_GPT4O_PATTERN(contraction, digits)                                                                        \
  "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+" contraction             \
  "|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*" contraction "|" digits \
  "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

constexpr std::string_view kDeepSeekV3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

const std::vector<NamedPreTokenizer>& table() {
  static const std::vector<NamedPreTokenizer> rows = {
      {.names = {"gpt-2", "phi-2"}, .patterns = {kGpt2}},
      {.names = {"llama-bpe", "llama3", "llama-v3"},
       .patterns = {ATB_GPT4_PATTERN("\\p{N}{1,3}")},
       .ignore_merges = true,
       .adds_bos = true},
      {.names = {"chatglm-bpe", "glm4", "smaug-bpe", "dbrx"}, .patterns = {ATB_GPT4_PATTERN("\\p{N}{1,3}")}},
      {.names = {"qwen2", "deepseek-r1-qwen"},
       .patterns = {ATB_GPT4_PATTERN("\\p{N}")},
       .normal_forms = {NormalForm::kNfc}},
      {.names = {"smollm", "starcoder", "refact"}, .patterns = {kNumeric, kGpt2}},
      {.names = {"command-r"}, .patterns = {kNumeric, kGpt2}, .normal_forms = {NormalForm::kNfc}},
      {.names = {"deepseek-coder"},
       .patterns = {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", "[一-龥ࠀ-一가-\uD7FF]+", kNumeric}},
      {.names = {"deepseek-v3"}, .patterns = {R"(\p{N}{1,3})", "[一-龥\u3040-ゟ゠-ヿ]+", kDeepSeekV3}},
      {.names = {"tekken"}, .patterns = {ATB_GPT4O_PATTERN("", "\\p{N}")}, .ignore_merges = true, .adds_bos = true},
      {.names = {"gpt-4o", "llama4"}, .patterns = {ATB_GPT4O_PATTERN("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "\\p{N}{1,3}")}},
  };
  return rows;
}

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const NamedPreTokenizer& row : table()) names.insert(names.end(), row.names.begin(), row.names.end());
  return names;
}

}  // namespace

std::string_view gpt2_pattern() { return kGpt2; }
std::string_view numeric_pattern() { return kNumeric; }

PreTokenizer NamedPreTokenizer::build() const {
  std::vector<SplitStep> steps;
  for (std::string_view pattern : patterns) steps.push_back({.pattern = Pattern(pattern, "built-in pre-tokenizer")});
  return PreTokenizer(std::move(steps));
}

const NamedPreTokenizer& named_pre_tokenizer(std::string_view name, const std::string& where) {
  for (const NamedPreTokenizer& row : table()) {
    if (std::find(row.names.begin(), row.names.end(), name) != row.names.end()) return row;
  }
  const std::vector<std::string> names = all_names();
  throw Error(ErrorCode::kModel,
              fmt::format("unknown pre-tokenizer \"{}\", expected one of {}", name, join(names, ", ")), where,
              fmt::format("the nearest is \"{}\"; if it fits, convert the file again with that name",
                          nearest_name(name, names)));
}

}  // namespace atb

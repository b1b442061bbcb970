#include <fmt/format.h>

#include "tokenizer/tokenizer_json.h"

namespace atb {
namespace {

class PreTokenizerReader {
 public:
  explicit PreTokenizerReader(const JsonReader& reader) : reader_(reader) {}

  PreTokenizer read(const Json& pre) {
    if (!JsonReader::is_null(pre)) add(pre);
    if (!ends_in_bytes_) reader_.unsupported("the pre-tokenizer does not end with ByteLevel");
    return PreTokenizer(std::move(steps_));
  }

 private:
  void add(const Json& pre) {
    const std::string& type = reader_.text(pre, "type");
    if (type == "Sequence") {
      for (const Json& part : reader_.list(pre, "pretokenizers")) add(part);
      return;
    }
    if (ends_in_bytes_) reader_.unsupported(fmt::format("pre-tokenizer \"{}\" comes after ByteLevel", type));
    for (const auto& [name, step] : kSteps) {
      if (name == type) return steps_.push_back((this->*step)(pre));
    }
    reader_.unsupported(fmt::format("pre-tokenizer \"{}\", supported: Split, Digits, ByteLevel, Sequence", type));
  }

  SplitStep split(const Json& pre) {
    const Json& pattern = JsonReader::member(pre, "pattern");
    const auto* literal = JsonReader::member(pattern, "String").as<std::string>();
    const std::string expression = literal ? escape_pattern(*literal) : reader_.text(pattern, "Regex");
    const std::string& behavior = reader_.text(pre, "behavior");
    const bool removed = behavior == "Removed";
    if (!removed && behavior != "Isolated") {
      reader_.unsupported(fmt::format("Split behavior \"{}\", supported: Isolated, Removed", behavior));
    }
    const auto what = reader_.flag(pre, "invert", false) ? SplitStep::Drop::kGaps : SplitStep::Drop::kMatches;
    return {.pattern = Pattern(expression, reader_.path()), .drop = removed ? what : SplitStep::Drop::kNothing};
  }

  SplitStep digits(const Json& pre) {
    const std::string one(numeric_pattern());
    return {.pattern = Pattern(reader_.flag(pre, "individual_digits", false) ? one : one + "+", reader_.path())};
  }

  SplitStep byte_level(const Json& pre) {
    ends_in_bytes_ = true;
    // Without GPT-2's pattern a piece stays whole: (?!) never matches.
    const std::string_view expression = reader_.flag(pre, "use_regex", true) ? gpt2_pattern() : "(?!)";
    return {.pattern = Pattern(expression, reader_.path()),
            .prefix_space = reader_.flag(pre, "add_prefix_space", true)};
  }

  struct Step {
    std::string_view type;
    SplitStep (PreTokenizerReader::*read)(const Json&);
  };
  static const Step kSteps[3];

  const JsonReader& reader_;
  std::vector<SplitStep> steps_;
  bool ends_in_bytes_ = false;
};

const PreTokenizerReader::Step PreTokenizerReader::kSteps[] = {
    {"Split", &PreTokenizerReader::split},
    {"Digits", &PreTokenizerReader::digits},
    {"ByteLevel", &PreTokenizerReader::byte_level},
};

TokenId checked_id(const JsonReader& reader, const Json& value, const Vocab& vocab) {
  const auto* id = value.as<int64_t>();
  if (!id || !vocab.contains(*id)) {
    reader.damaged(fmt::format("post_processor names {}, expected an id of the vocabulary of {} tokens",
                               id ? std::to_string(*id) : value.kind(), vocab.size()));
  }
  return static_cast<TokenId>(*id);
}

void read_template(const JsonReader& reader, const Json& post, ByteBpeParts& parts) {
  std::vector<TokenId>* side = &parts.prefix;
  for (const Json& piece : reader.list(post, "single")) {
    if (piece.find("Sequence")) {
      side = &parts.suffix;
      continue;
    }
    const std::string& name = reader.text(JsonReader::member(piece, "SpecialToken"), "id");
    const Json& token = JsonReader::member(JsonReader::member(post, "special_tokens"), name);
    for (const Json& id : reader.list(token, "ids")) side->push_back(checked_id(reader, id, parts.vocab));
  }
}

/// "cls" and "sep" are pairs of a token and its id.
void read_pair(const JsonReader& reader, const Json& post, const char* key, const Vocab& vocab,
               std::vector<TokenId>& side) {
  const Json::Array& pair = reader.list(post, key);
  if (pair.size() != 2) reader.damaged(fmt::format("\"{}\" should be a token and its id", key));
  side.push_back(checked_id(reader, pair[1], vocab));
}

}  // namespace

std::vector<NormalForm> read_hf_normalizer(const JsonReader& reader, const Json& normalizer) {
  constexpr std::pair<std::string_view, NormalForm> kForms[] = {{"NFC", NormalForm::kNfc}, {"NFD", NormalForm::kNfd}};
  if (JsonReader::is_null(normalizer)) return {};
  const std::string& type = reader.text(normalizer, "type");
  for (const auto& [name, form] : kForms) {
    if (name == type) return {form};
  }
  if (type != "Sequence") {
    reader.unsupported(fmt::format("normalizer \"{}\", supported: NFC, NFD, Sequence", type));
  }
  std::vector<NormalForm> forms;
  for (const Json& part : reader.list(normalizer, "normalizers")) {
    for (NormalForm form : read_hf_normalizer(reader, part)) forms.push_back(form);
  }
  return forms;
}

PreTokenizer read_hf_pre_tokenizer(const JsonReader& reader, const Json& pre_tokenizer) {
  return PreTokenizerReader(reader).read(pre_tokenizer);
}

void read_hf_post_processor(const JsonReader& reader, const Json& post, ByteBpeParts& parts) {
  if (JsonReader::is_null(post)) return;
  const std::string& type = reader.text(post, "type");
  if (type == "ByteLevel") return;
  if (type == "TemplateProcessing") return read_template(reader, post, parts);
  if (type == "Sequence") {
    for (const Json& part : reader.list(post, "processors")) read_hf_post_processor(reader, part, parts);
    return;
  }
  if (type != "RobertaProcessing" && type != "BertProcessing") {
    reader.unsupported(fmt::format(
        "post-processor \"{}\", supported: TemplateProcessing, RobertaProcessing, BertProcessing, ByteLevel, Sequence",
        type));
  }
  read_pair(reader, post, "cls", parts.vocab, parts.prefix);
  read_pair(reader, post, "sep", parts.vocab, parts.suffix);
}

}  // namespace atb

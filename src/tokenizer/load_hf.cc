// The tokenizer of a Hugging Face folder: tokenizer.json and the small files beside it.
#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tokenizer/load.h"
#include "tokenizer/tokenizer_json.h"

namespace atb {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_text(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

/// JSON null if there is no such file.
Json read_optional(const fs::path& path) {
  const auto text = read_text(path);
  return text ? parse_json(*text, path) : Json{};
}

/// A token of tokenizer_config.json: a string, or an object with the string as "content".
std::optional<TokenId> config_token(const Json& config, const char* key, const Vocab& vocab) {
  const Json& value = JsonReader::member(config, key);
  const Json* content = value.find("content");
  const auto* text = (content ? *content : value).as<std::string>();
  return text ? vocab.find(*text) : std::nullopt;
}

void add_eos(const JsonReader& reader, const Json& value, ByteBpeParts& parts) {
  const auto* id = value.as<int64_t>();
  if (!id || !parts.vocab.contains(*id)) {
    reader.damaged(fmt::format("eos_token_id is {}, expected an id of the vocabulary of {} tokens",
                               id ? std::to_string(*id) : value.kind(), parts.vocab.size()));
  }
  parts.eos.push_back(static_cast<TokenId>(*id));
}

/// eos_token_id is a number, a list of numbers, or null.
void add_eos_ids(const fs::path& path, ByteBpeParts& parts) {
  const Json config = read_optional(path);
  const Json& ids = JsonReader::member(config, "eos_token_id");
  if (JsonReader::is_null(ids)) return;
  const JsonReader reader(path);
  const auto* list = ids.as<Json::Array>();
  if (!list) return add_eos(reader, ids, parts);
  for (const Json& id : *list) add_eos(reader, id, parts);
}

/// The Jinja source: a string, or a list of named ones of which "default" counts.
std::string chat_template_of(const Json& config) {
  const Json& value = JsonReader::member(config, "chat_template");
  if (const auto* text = value.as<std::string>()) return *text;
  if (const auto* list = value.as<Json::Array>()) {
    for (const Json& entry : *list) {
      const auto* name = JsonReader::member(entry, "name").as<std::string>();
      const auto* text = JsonReader::member(entry, "template").as<std::string>();
      if (name && text && *name == "default") return *text;
    }
  }
  return "";
}

void read_surroundings(const fs::path& folder, ByteBpeParts& parts) {
  const Json config = read_optional(folder / "tokenizer_config.json");
  add_eos_ids(folder / "config.json", parts);
  add_eos_ids(folder / "generation_config.json", parts);
  if (const auto eos = config_token(config, "eos_token", parts.vocab)) parts.eos.push_back(*eos);
  add_known_eos(parts.vocab, parts.eos);
  std::vector<TokenId> distinct;
  for (TokenId id : parts.eos) {
    if (std::find(distinct.begin(), distinct.end(), id) == distinct.end()) distinct.push_back(id);
  }
  parts.eos = std::move(distinct);
  parts.bos = config_token(config, "bos_token", parts.vocab);
  if (!parts.bos && !parts.prefix.empty()) parts.bos = parts.prefix.front();
  parts.chat_template = read_text(folder / "chat_template.jinja").value_or(chat_template_of(config));
}

}  // namespace

std::unique_ptr<Tokenizer> load_hf_tokenizer(const ModelFile& file) {
  const fs::path folder(file.path());
  const JsonReader reader(folder / "tokenizer.json");
  const auto text = read_text(reader.path());
  if (!text) {
    throw Error(ErrorCode::kModel, "the folder has no tokenizer.json", reader.path(),
                "save it with AutoTokenizer.from_pretrained(...).save_pretrained(...)");
  }
  const Json root = parse_json(*text, reader.path());
  ByteBpeParts parts{.source = reader.path()};
  read_hf_model(reader, root, parts);
  check_vocab_fits(file, parts.vocab.size());
  parts.normal_forms = read_hf_normalizer(reader, JsonReader::member(root, "normalizer"));
  parts.pre_tokenizer = read_hf_pre_tokenizer(reader, JsonReader::member(root, "pre_tokenizer"));
  read_hf_post_processor(reader, JsonReader::member(root, "post_processor"), parts);
  read_surroundings(folder, parts);
  return make_byte_bpe(std::move(parts));
}

}  // namespace atb

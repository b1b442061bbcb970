// Which loader reads which kind of tokenizer. A new kind is one file and one line of kGgufLoaders.
#include "tokenizer/load.h"

#include <atb/error.h>
#include <fmt/format.h>

#include "base/text.h"

namespace atb {
namespace {

struct GgufLoader {
  std::string_view model;  ///< tokenizer.ggml.model
  std::unique_ptr<Tokenizer> (*load)(const ModelFile&);
};
constexpr GgufLoader kGgufLoaders[] = {
    {"gpt2", load_gguf_byte_bpe},
};

std::unique_ptr<Tokenizer> load_gguf_tokenizer(const ModelFile& file) {
  const std::string model = file.metadata().require_string("tokenizer.ggml.model");
  std::vector<std::string> known;
  for (const GgufLoader& loader : kGgufLoaders) {
    if (loader.model == model) return loader.load(file);
    known.emplace_back(loader.model);
  }
  throw Error(ErrorCode::kModel, fmt::format("tokenizer.ggml.model is \"{}\", supported: {}", model, join(known, ", ")),
              file.path(), "use a model with a byte-level BPE tokenizer");
}

std::optional<int64_t> embedding_rows(const ModelFile& file) {
  const Metadata& metadata = file.metadata();
  for (const char* name : {"token_embd.weight", "model.embed_tokens.weight"}) {
    const TensorInfo* tensor = file.find(name);
    if (tensor && tensor->shape.size() == 2) return tensor->shape[0];
  }
  if (file.format() == ModelFormat::kHuggingFace) return metadata.get_int("vocab_size");
  const auto architecture = metadata.get_string("general.architecture");
  return architecture ? metadata.get_int(*architecture + ".vocab_size") : std::nullopt;
}

}  // namespace

std::unique_ptr<Tokenizer> load_tokenizer(const ModelFile& file) {
  return file.format() == ModelFormat::kGguf ? load_gguf_tokenizer(file) : load_hf_tokenizer(file);
}

void check_vocab_fits(const ModelFile& file, int64_t tokens) {
  const std::optional<int64_t> rows = embedding_rows(file);
  if (!rows || tokens <= *rows) return;
  throw Error(ErrorCode::kModel,
              fmt::format("the tokenizer has {} tokens, the model's vocabulary only {}", tokens, *rows), file.path(),
              "tokenizer and weights are not of the same model");
}

}  // namespace atb

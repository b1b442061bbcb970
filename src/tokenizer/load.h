// The loaders behind load_tokenizer; one file each.
#pragma once

#include <memory>
#include <string>

#include "io/model_file.h"
#include "tokenizer/tokenizer.h"

namespace atb {

std::unique_ptr<Tokenizer> load_gguf_byte_bpe(const ModelFile& file);

/// tokenizer.json, with tokenizer_config.json, generation_config.json and chat_template.jinja where they are there.
std::unique_ptr<Tokenizer> load_hf_tokenizer(const ModelFile& file);

/// Error{kModel} unless every id of a vocabulary of `tokens` has a row in the model's embedding table, as far as the
/// file tells how many rows that has.
void check_vocab_fits(const ModelFile& file, int64_t tokens);

}  // namespace atb

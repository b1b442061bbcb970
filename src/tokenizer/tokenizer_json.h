// tokenizer.json, the format of the Hugging Face `tokenizers` library, as the parts of a byte-level BPE. Whatever
// changes ids and is not supported is Error{kModel} that names it.
#pragma once

#include <vector>

#include "tokenizer/byte_bpe.h"
#include "tokenizer/json_reader.h"

namespace atb {

/// "model" and "added_tokens": vocabulary, merges, added tokens.
void read_hf_model(const JsonReader& reader, const Json& root, ByteBpeParts& parts);

/// "normalizer"
std::vector<NormalForm> read_hf_normalizer(const JsonReader& reader, const Json& normalizer);

/// "pre_tokenizer", which must end with ByteLevel.
PreTokenizer read_hf_pre_tokenizer(const JsonReader& reader, const Json& pre_tokenizer);

/// "post_processor": what comes before and after every text. parts.vocab must be there.
void read_hf_post_processor(const JsonReader& reader, const Json& post_processor, ByteBpeParts& parts);

}  // namespace atb

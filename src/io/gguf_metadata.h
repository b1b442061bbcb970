// The key-value section of a GGUF file.
#pragma once

#include <string>

#include "io/byte_reader.h"
#include "io/metadata.h"

namespace atb {

/// The smallest key-value pair: length and one byte of key, type, a one-byte value.
inline constexpr size_t kMinGgufPairBytes = 8 + 1 + 4 + 1;

/// Reads `count` pairs at the reader's position. Error{kFile} naming the key and the offset for anything malformed.
Metadata read_gguf_metadata(ByteReader& reader, size_t count, const std::string& file);

}  // namespace atb

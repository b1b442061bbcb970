// Builds small GGUF and safetensors files byte by byte, right and wrong ones.
#pragma once

#include <atb/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "support/temp_dir.h"

namespace atb::testing {

/// The little-endian bytes of a number.
template <typename T>
std::string le(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof(T));
}

/// A GGUF string: 64-bit length, then the bytes.
inline std::string gguf_string(std::string_view text) { return le<uint64_t>(text.size()) + std::string(text); }

inline std::string gguf_pair(std::string_view key, uint32_t type, const std::string& value) {
  return gguf_string(key) + le(type) + value;
}

struct GgufTensor {
  std::string name;
  std::vector<int64_t> dims;  ///< innermost first, as in the file
  uint32_t type;
  uint64_t offset;

  std::string bytes() const {
    std::string out = gguf_string(name) + le(static_cast<uint32_t>(dims.size()));
    for (const int64_t dim : dims) out += le(dim);
    return out + le(type) + le(offset);
  }
};

inline std::string gguf_header(uint64_t tensors, uint64_t pairs, uint32_t version = 3) {
  return "GGUF" + le(version) + le(tensors) + le(pairs);
}

struct GgufSpec {
  std::vector<std::string> pairs = {};
  std::vector<GgufTensor> tensors = {};
  std::string data = {};
  size_t alignment = 32;
  uint32_t version = 3;

  std::string bytes() const {
    std::string out = gguf_header(tensors.size(), pairs.size(), version);
    for (const std::string& pair : pairs) out += pair;
    for (const GgufTensor& tensor : tensors) out += tensor.bytes();
    out.resize((out.size() + alignment - 1) / alignment * alignment);
    return out + data;
  }
};

inline std::string safetensors_bytes(std::string_view header, std::string_view data) {
  return le<uint64_t>(header.size()) + std::string(header) + std::string(data);
}

/// `open` must throw an Error of that code whose line holds all of `words` and is one line.
inline void expect_error(ErrorCode code, const std::vector<std::string>& words, const std::function<void()>& open) {
  try {
    open();
    ADD_FAILURE() << "no error; expected one with: " << ::testing::PrintToString(words);
  } catch (const Error& error) {
    const std::string line = error.what();
    EXPECT_EQ(error.code(), code) << line;
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    EXPECT_LT(line.size(), 1000u) << line;
    EXPECT_FALSE(error.hint().empty()) << line;
    for (const std::string& word : words) EXPECT_THAT(line, ::testing::HasSubstr(word));
  }
}

}  // namespace atb::testing

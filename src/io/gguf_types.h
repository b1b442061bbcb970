// The tensor types of GGUF files by their number.
#pragma once

#include <atb/dtype.h>

#include <cstdint>
#include <optional>

namespace atb {

struct GgufType {
  uint32_t number;
  const char* name;            ///< as GGUF calls it: "Q4_K"
  std::optional<DType> dtype;  ///< nothing for types that are known but not supported
};

/// nullptr for a number that no type has.
const GgufType* find_gguf_type(uint32_t number) noexcept;

}  // namespace atb

#include <atb/dtype.h>

namespace atb {
namespace {

// In the order of DType. Block formats: the GGUF specification's layouts (see src/io/block_formats.h).
constexpr DTypeInfo kInfo[] = {
    {"f32", 1, 4, false, true},      {"f16", 1, 2, false, true},      {"bf16", 1, 2, false, true},
    {"f64", 1, 8, false, true},      {"i8", 1, 1, false, false},      {"u8", 1, 1, false, false},
    {"i16", 1, 2, false, false},     {"i32", 1, 4, false, false},     {"i64", 1, 8, false, false},
    {"bool", 1, 1, false, false},    {"q4_0", 32, 18, true, false},   {"q4_1", 32, 20, true, false},
    {"q5_0", 32, 22, true, false},   {"q5_1", 32, 24, true, false},   {"q8_0", 32, 34, true, false},
    {"q4_k", 256, 144, true, false}, {"q5_k", 256, 176, true, false}, {"q6_k", 256, 210, true, false},
};
static_assert(sizeof(kInfo) / sizeof(kInfo[0]) == kDTypeCount);

}  // namespace

const DTypeInfo& dtype_info(DType dtype) noexcept { return kInfo[static_cast<int>(dtype)]; }

std::optional<DType> parse_dtype(std::string_view name) noexcept {
  for (int i = 0; i < kDTypeCount; ++i)
    if (name == kInfo[i].name) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace atb

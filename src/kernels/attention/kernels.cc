#include <vector>

#include "kernels/attention/attention.h"

namespace atb {

#define ATB_KERNEL(isa)                                    \
  namespace isa {                                          \
  KvAppendFn kv_append(DType dtype, bool is_key) noexcept; \
  ScoresFn scores(DType dtype) noexcept;                   \
  ValuesFn values(DType dtype) noexcept;                   \
  }
#include "kernels/attention/kernels.inc"
#undef ATB_KERNEL

namespace {

template <class Fn>
using Table = std::vector<Kernel<Fn>>;

constexpr DType kCacheTypes[] = {DType::kF32, DType::kF16, DType::kBF16};

size_t cache_type_index(DType dtype) {
  for (size_t i = 0; i < std::size(kCacheTypes); ++i)
    if (kCacheTypes[i] == dtype) return i;
  ATB_CHECK(!"a KV cache is f32, f16 or bf16");
  return 0;
}

/// make(dtype) for every dtype of a cache.
template <class Make>
auto tables_of(Make make) {
  std::vector<decltype(make(DType::kF32))> tables;
  for (DType dtype : kCacheTypes) tables.push_back(make(dtype));
  return tables;
}

Table<KvAppendFn> key_table(DType dtype) {
  return {
#define ATB_KERNEL(isa) {"kv_append_keys/" #isa, isa_named::isa, isa::kv_append(dtype, true)},
#include "kernels/attention/kernels.inc"
#undef ATB_KERNEL
  };
}

Table<KvAppendFn> value_table(DType dtype) {
  return {
#define ATB_KERNEL(isa) {"kv_append_values/" #isa, isa_named::isa, isa::kv_append(dtype, false)},
#include "kernels/attention/kernels.inc"
#undef ATB_KERNEL
  };
}

Table<ScoresFn> scores_table(DType dtype) {
  return {
#define ATB_KERNEL(isa) {"scores/" #isa, isa_named::isa, isa::scores(dtype)},
#include "kernels/attention/kernels.inc"
#undef ATB_KERNEL
  };
}

Table<ValuesFn> values_table(DType dtype) {
  return {
#define ATB_KERNEL(isa) {"values/" #isa, isa_named::isa, isa::values(dtype)},
#include "kernels/attention/kernels.inc"
#undef ATB_KERNEL
  };
}

}  // namespace

std::span<const Kernel<KvAppendFn>> kv_append_kernels(DType kv_dtype, bool is_key) {
  static const auto keys = tables_of(key_table), values = tables_of(value_table);
  return (is_key ? keys : values)[cache_type_index(kv_dtype)];
}

std::span<const Kernel<ScoresFn>> scores_kernels(DType kv_dtype) {
  static const auto tables = tables_of(scores_table);
  return tables[cache_type_index(kv_dtype)];
}

std::span<const Kernel<ValuesFn>> values_kernels(DType kv_dtype) {
  static const auto tables = tables_of(values_table);
  return tables[cache_type_index(kv_dtype)];
}

const Kernel<KvAppendFn>& select_kv_append(KvLayout layout, bool is_key, const IsaSet& isas) {
  return select_kernel(kv_append_kernels(layout.dtype, is_key), isas);
}
const Kernel<ScoresFn>& select_scores(DType kv_dtype, const IsaSet& isas) {
  return select_kernel(scores_kernels(kv_dtype), isas);
}
const Kernel<ValuesFn>& select_values(DType kv_dtype, const IsaSet& isas) {
  return select_kernel(values_kernels(kv_dtype), isas);
}

}  // namespace atb

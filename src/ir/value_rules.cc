#include "ir/value_rules.h"

#include <atb/error.h>

namespace atb {
namespace {

[[noreturn]] void refuse(const Value& value, const std::string& why, const std::string& hint = "") {
  throw Error(ErrorCode::kModel, std::string(dtype_name(value.dtype)) + to_string(value.shape) + " " + why,
              value.tensor, hint);
}

void check_blocks(const Value& value) {
  const DTypeInfo& info = dtype_info(value.dtype);
  if (value.kind != ValueKind::kParam) refuse(value, "is a block format, which only params can have");
  if (value.shape.empty() || !value.shape.back().is_constant() ||
      value.shape.back().constant() % info.block_size != 0) {
    refuse(value, "needs a last size that is a multiple of its block of " + std::to_string(info.block_size));
  }
}

}  // namespace

std::string describe(const Value& value) {
  return "%" + value.name + " " + dtype_name(value.dtype) + to_string(value.shape);
}

void check_tensor(const Value& value) {
  for (const Dim& dim : value.shape)
    if (dim.is_constant() && dim.constant() < 0) refuse(value, "has a negative size");
  if (dtype_info(value.dtype).quantized) check_blocks(value);
  if (value.kind == ValueKind::kState && value.shape.empty())
    refuse(value, "has no dimension to grow along", "a state is [past, width]");
}

}  // namespace atb

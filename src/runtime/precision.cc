#include "runtime/precision.h"

namespace atb {
namespace {

/// Indexed by ActivationFormat.
constexpr const char* kMultiplies[] = {"fp32", "bf16", "int8"};

const char* multiplies(const MatMulKernel& kernel) { return kMultiplies[static_cast<size_t>(kernel.activations)]; }

}  // namespace

PackedFormat weight_format(DType dtype, Precision precision) noexcept {
  switch (precision) {
    case Precision::kFp32:
      return {.kind = PackKind::kF32};
    case Precision::kBf16:
      return {.kind = PackKind::kBf16};
    case Precision::kDefault:
      break;
  }
  return exact_format(dtype);
}

std::string describe_precision(const MatMulKernel& kernel, const PackedFormat& format) {
  std::string what = multiplies(kernel);
  if (kernel.activations == ActivationFormat::kInt8)
    what += " groups of " + std::to_string(activation_layout(kernel, format, 0).group);
  if (kernel.activations == ActivationFormat::kF32 && format.kind != PackKind::kF32)
    what += std::string(" over ") + pack_kind_name(format.kind) + " weights";
  return what + ", fp32 accumulation";
}

std::string describe_cube(const MatMulKernel& kernel) {
  return std::string(isa_name(kernel.isa)) + " " + multiplies(kernel);
}

}  // namespace atb

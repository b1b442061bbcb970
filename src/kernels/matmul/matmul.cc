#include "kernels/matmul/matmul.h"

#include "kernels/matmul/variants.h"

namespace atb {
namespace {

constexpr MatMulKernel kKernels[] = {
#define ATB_MATMUL(weights, kind, ns, isa, activations, prepare) \
  {"matmul_" #weights "/" #ns, Isa::isa, PackKind::kind, ActivationFormat::activations, prepare, ns::matmul_##weights},
#include "kernels/matmul/kernels.inc"
#undef ATB_MATMUL
};

size_t unpadded_row_bytes(const ActivationLayout& layout) noexcept {
  const auto k = static_cast<size_t>(layout.k);
  if (layout.format == ActivationFormat::kF32) return k * sizeof(float);
  if (layout.format == ActivationFormat::kBf16) return k * 2;
  const auto group = static_cast<size_t>(layout.group);
  return k / group * (group + sizeof(GroupStats));
}

}  // namespace

size_t ActivationLayout::row_bytes() const noexcept { return (unpadded_row_bytes(*this) + 63) / 64 * 64; }

std::span<const MatMulKernel> matmul_kernels() { return kKernels; }

const MatMulKernel& select_matmul(PackKind kind, const IsaSet& isas) {
  const MatMulKernel* found = nullptr;
  for (const MatMulKernel& kernel : kKernels)
    if (found == nullptr && kernel.kind == kind && isas.has(kernel.isa)) found = &kernel;
  ATB_CHECK(found != nullptr);
  return *found;
}

ActivationLayout activation_layout(const MatMulKernel& kernel, const PackedFormat& format, int64_t k) noexcept {
  const int group = format.kind == PackKind::kQ4 ? kNibbleActivations : format.group;
  return {kernel.activations, kernel.activations == ActivationFormat::kInt8 ? group : 0, k};
}

}  // namespace atb

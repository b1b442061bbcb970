// The tables of all functions, and which function a node asks for.
#include <string>
#include <vector>

#include "kernels/pointwise/pointwise.h"

namespace atb {

#define ATB_KERNEL(isa)                                       \
  namespace isa {                                             \
  PointwiseFn pointwise(PointwiseFunction function) noexcept; \
  }
#include "kernels/pointwise/kernels.inc"
#undef ATB_KERNEL

namespace {

struct FunctionInfo {
  const char* name;
  int arity;
};
constexpr FunctionInfo kFunctions[] = {
#define ATB_POINTWISE(id, name, arity) {name, arity},
#include "kernels/pointwise/functions.inc"
#undef ATB_POINTWISE
};

struct Variant {
  const char* suffix;
  Isa isa;
  PointwiseFn (*function)(PointwiseFunction) noexcept;
};
constexpr Variant kVariants[] = {
#define ATB_KERNEL(isa) {"/" #isa, isa_named::isa, isa::pointwise},
#include "kernels/pointwise/kernels.inc"
#undef ATB_KERNEL
};

/// The variants of all functions, function after function, and the names that they point to.
struct Tables {
  std::vector<std::string> names;
  std::vector<Kernel<PointwiseFn>> kernels;
};

Tables make_tables() {
  Tables tables;
  tables.names.reserve(std::size(kFunctions) * std::size(kVariants));
  for (size_t f = 0; f < std::size(kFunctions); ++f)
    for (const Variant& variant : kVariants) {
      tables.names.push_back(std::string(kFunctions[f].name) + variant.suffix);
      const PointwiseFn run = variant.function(static_cast<PointwiseFunction>(f));
      tables.kernels.push_back({tables.names.back().c_str(), variant.isa, run});
    }
  return tables;
}

using F = PointwiseFunction;
// In the order of the enums of ops.h.
constexpr F kActivations[] = {F::kGelu, F::kGeluTanh, F::kGeluQuick, F::kSilu, F::kRelu, F::kSigmoid, F::kTanh};
constexpr F kUnaries[] = {F::kNeg, F::kSqrt, F::kRsqrt, F::kExp, F::kErf, F::kSquare, F::kReciprocal};
constexpr F kBinaries[] = {F::kSub, F::kDiv, F::kMax, F::kMin, F::kPow};

F cast_function(DType dtype) {
  if (dtype == DType::kF16) return F::kRoundF16;
  if (dtype == DType::kBF16) return F::kRoundBf16;
  if (dtype == DType::kBool) return F::kNotZero;
  return dtype_info(dtype).floating ? F::kCopy : F::kTruncate;
}

}  // namespace

std::span<const Kernel<PointwiseFn>> pointwise_kernels(PointwiseFunction function) {
  static const Tables tables = make_tables();
  return std::span(tables.kernels).subspan(static_cast<size_t>(function) * std::size(kVariants), std::size(kVariants));
}

int pointwise_arity(PointwiseFunction function) noexcept { return kFunctions[static_cast<int>(function)].arity; }

PointwiseFunction pointwise_function(Op op, const Attrs& attrs) {
  if (const auto* a = std::get_if<ActivationAttrs>(&attrs)) return kActivations[static_cast<int>(a->kind)];
  if (const auto* a = std::get_if<UnaryAttrs>(&attrs)) return kUnaries[static_cast<int>(a->kind)];
  if (const auto* a = std::get_if<BinaryAttrs>(&attrs)) return kBinaries[static_cast<int>(a->kind)];
  if (const auto* a = std::get_if<CastAttrs>(&attrs)) return cast_function(a->dtype);
  if (op == Op::kAdd) return F::kAdd;
  if (op == Op::kMul) return F::kMul;
  return op == Op::kWhere ? F::kWhere : F::kCopy;
}

}  // namespace atb

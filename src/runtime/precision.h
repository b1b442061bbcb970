// The precision contract as a table: which packed format the weights of a matmul get.
#pragma once

#include <string>

#include "base/options.h"
#include "kernels/matmul/matmul.h"

namespace atb {

/// Default: the format that keeps the file's values exactly. fp32: the values expanded to fp32. bf16: rounded to bf16.
PackedFormat weight_format(DType dtype, Precision precision) noexcept;

/// What a kernel computes on: "int8 groups of 32, fp32 accumulation".
std::string describe_precision(const MatMulKernel& kernel, const PackedFormat& format);
/// The matrix path: "avx512_vnni int8".
std::string describe_cube(const MatMulKernel& kernel);

}  // namespace atb

// Names of this machine's units.
#pragma once

#include <string>

#include "base/cpu.h"

namespace atb {

/// The matrix path per dtype: "avx512_vnni int8, avx512_bf16 bf16, avx512 fp32".
std::string cube_name(const IsaSet& isas);
/// Where everything but matrices runs: "avx512", "avx2" or "portable".
std::string vector_name(const IsaSet& isas);

}  // namespace atb

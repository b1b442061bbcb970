#include "kernels/simd/avx512.h"

#include "kernels/rms_norm/body.inc"

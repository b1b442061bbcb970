#include "kernels/simd/avx2.h"

#include "kernels/rms_norm/body.inc"

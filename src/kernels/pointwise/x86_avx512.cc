#include "kernels/simd/avx512.h"

#include "kernels/pointwise/body.inc"

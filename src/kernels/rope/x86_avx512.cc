#include "kernels/simd/avx512.h"

#include "kernels/rope/body.inc"

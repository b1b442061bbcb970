#include "kernels/simd/avx2.h"

#include "kernels/rope/body.inc"

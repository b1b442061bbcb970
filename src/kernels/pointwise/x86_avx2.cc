#include "kernels/simd/avx2.h"

#include "kernels/pointwise/body.inc"

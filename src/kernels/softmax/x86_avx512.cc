#include "kernels/simd/avx512.h"

#include "kernels/softmax/body.inc"

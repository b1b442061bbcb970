#include "kernels/simd/avx2.h"

#include "kernels/softmax/body.inc"

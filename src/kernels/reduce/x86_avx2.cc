#include "kernels/simd/avx2.h"

#include "kernels/reduce/body.inc"

#include "kernels/simd/avx512.h"

#include "kernels/reduce/body.inc"

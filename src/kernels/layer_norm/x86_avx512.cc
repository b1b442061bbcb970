#include "kernels/simd/avx512.h"

#include "kernels/layer_norm/body.inc"

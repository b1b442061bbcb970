#include "kernels/simd/avx2.h"

#include "kernels/layer_norm/body.inc"

#include "kernels/simd/portable.h"

#include "kernels/layer_norm/body.inc"

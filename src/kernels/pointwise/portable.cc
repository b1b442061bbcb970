#include "kernels/simd/portable.h"

#include "kernels/pointwise/body.inc"

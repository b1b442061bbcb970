#include "kernels/simd/portable.h"

#include "kernels/rope/body.inc"

#include "kernels/simd/portable.h"

#include "kernels/rms_norm/body.inc"

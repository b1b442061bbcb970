#include "kernels/simd/portable.h"

#include "kernels/softmax/body.inc"

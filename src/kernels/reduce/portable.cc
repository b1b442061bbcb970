#include "kernels/simd/portable.h"

#include "kernels/reduce/body.inc"

#include "kernels/simd/portable.h"

#include "kernels/attention/kv_append.inc"
#include "kernels/attention/pair_tile.inc"
#include "kernels/attention/scores.inc"
#include "kernels/attention/values.inc"

// The two halves of pack_panels: plain floats and blocks. Each packs one panel, whose bytes were set to zero.
#pragma once

#include "kernels/matmul/packed.h"

namespace atb {

void pack_float_panel(const WeightSource& source, PackKind kind, int64_t panel, std::byte* out) noexcept;
void pack_block_panel(const WeightSource& source, const PackedFormat& format, int64_t panel, std::byte* out) noexcept;

/// Bytes of one group of a quantised panel: scales, mins, integers.
size_t packed_group_bytes(const PackedFormat& format) noexcept;

}  // namespace atb

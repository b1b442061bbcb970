// Shapes seen another way.
#pragma once

#include "fusion/recognise/editor.h"

namespace atb::recognising {

/// The attributes that make `to` of `from`; nothing if a symbolic size would have to move.
std::optional<ReshapeAttrs> reshape_attrs(const Shape& from, const Shape& to);
/// x in that shape, which reshape_attrs allows.
ValueId reshaped(Editor& g, ValueId x, const Shape& to, const std::string& path);
/// x with two axes exchanged, both counted from the end (0 is the last).
ValueId exchanged(Editor& g, ValueId x, size_t a_from_end, size_t b_from_end, const std::string& path);
/// The permutation that exchanges them, of that rank.
std::vector<int64_t> exchange(size_t rank, size_t a_from_end, size_t b_from_end);

/// [.., T, H, D] -> [.., T, H*D]; nothing if H or D are symbolic.
std::optional<Shape> merged_heads(const Shape& heads);
/// [.., T, W] -> [.., T, heads, head_dim]
Shape split_heads(const Shape& flat, int64_t heads, int64_t head_dim);

}  // namespace atb::recognising

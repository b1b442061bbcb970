// Attention operands seen as heads side by side.
#pragma once

#include "fusion/recognise/editor.h"

namespace atb::recognising {

/// A value [.., H, T, D] of matrices per head, traced back through views to [.., T, H, D] or to a tensor that no view
/// was put on.
struct HeadsView {
  ValueId base;
  std::vector<int64_t> order;  ///< axes of `base` that are [.., T, H, D]
  int64_t heads, head_dim;     ///< of `base`: before the repeat
  int64_t repeats;             ///< how often each head is repeated in place
};
/// Nothing if the views are not those: an axis out of place is never taken for another, whatever the sizes are.
/// `keys_last`: the value is [.., H, D, T].
std::optional<HeadsView> heads_view(const Editor& g, ValueId matrices, bool keys_last);
/// [.., T, H*D]
ValueId side_by_side(Editor& g, const HeadsView& view, const std::string& path);

}  // namespace atb::recognising

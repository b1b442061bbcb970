#include "kernels/reference_ops.h"

namespace atb::reference {

// The rows of the state, then those of x, which are rounded to the dtype of the state: that is what a cache stores.
RefTensor referenceKvAppend(const NoAttrs&, const RefInputs& in) {
  RefTensor grown = *in[0], added = *in[1];
  round_to(grown.dtype, added);
  grown.shape[0] += added.shape[0];
  grown.data.insert(grown.data.end(), added.data.begin(), added.data.end());
  return grown;
}

}  // namespace atb::reference

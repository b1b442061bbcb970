#include "runtime/extent.h"

#include <atb/error.h>

namespace atb {

Extent Extent::of(const Dim& dim) {
  Extent e = fixed(dim.constant());
  for (const auto& [name, factor] : dim.terms()) {
    if (name == "tokens")
      e.tokens = factor;
    else if (name == "outputs")
      e.outputs = factor;
    else if (name == "past")
      e.past = factor;
    else
      throw Error(ErrorCode::kModel, "unknown symbol '" + name + "' in a shape", dim.to_string(),
                  "an executable graph uses tokens, outputs and past");
  }
  return e;
}

Extents extents_of(const Shape& shape) {
  Extents all;
  for (const auto& dim : shape) all.push_back(Extent::of(dim));
  return all;
}

Extent product(const Extent* begin, const Extent* end) {
  Extent result = Extent::fixed(1);
  for (const Extent* e = begin; e != end; ++e) {
    if (!result.is_fixed() && !e->is_fixed())
      throw Error(ErrorCode::kModel, "a tensor has two dimensions that depend on the batch", "shape",
                  "only scores may be [heads, tokens, past+tokens]");
    result = e->is_fixed() ? result * e->constant : *e * result.constant;
  }
  return result;
}

}  // namespace atb

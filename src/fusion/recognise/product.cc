#include "fusion/recognise/product.h"

namespace atb::recognising {
namespace {

void expand(const Editor& g, ValueId id, ValueId whole, Product& product) {
  const auto scaled = id == whole ? std::nullopt : g.scaled(id);
  const Node* node = id == whole ? nullptr : g.made_by(id, Op::kMul);
  if (!scaled && !node) {
    product.factors.push_back(id);
    return;
  }
  product.interior.push_back(id);
  if (scaled) {
    product.c *= scaled->c;
    return expand(g, scaled->x, whole, product);
  }
  const ValueId a = node->inputs[0], b = node->inputs[1];
  expand(g, a, whole, product);
  expand(g, b, whole, product);
}

}  // namespace

bool Product::has(ValueId a, ValueId b) const {
  if (factors.size() != 2) return false;
  return (factors[0] == a && factors[1] == b) || (factors[0] == b && factors[1] == a);
}

Product product_of(const Editor& g, ValueId id, ValueId whole) {
  Product product;
  expand(g, id, whole, product);
  if (!product.interior.empty()) product.interior.erase(product.interior.begin());  // `id` itself
  return product;
}

}  // namespace atb::recognising

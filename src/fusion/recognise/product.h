// A product as the list of its factors, whatever its bracketing was.
#pragma once

#include "fusion/recognise/editor.h"

namespace atb::recognising {

struct Product {
  double c = 1;
  std::vector<ValueId> factors;
  std::vector<ValueId> interior;  ///< the products inside the product

  /// Whether it is c * a * b.
  bool is(double literal, ValueId a, ValueId b) const { return is_literal(c, literal) && has(a, b); }
  bool has(ValueId a, ValueId b) const;
};

/// `whole` is not looked into: it counts as one factor even if it is a product.
Product product_of(const Editor& g, ValueId id, ValueId whole = kNoValue);

}  // namespace atb::recognising

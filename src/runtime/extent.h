// Sizes of a plan that depend on the batch: a dimension of the graph with its symbols as numbers.
#pragma once

#include <atb/graph.h>

#include <cstdint>
#include <vector>

namespace atb {

/// Values of the three symbols that a graph may use. `past` differs between the sequences of a batch.
struct Symbols {
  int64_t tokens = 0, outputs = 0, past = 0;
};

/// constant + tokens * T + outputs * O + past * P.
struct Extent {
  int64_t constant = 0, tokens = 0, outputs = 0, past = 0;

  /// Error{kModel} for any other symbol.
  static Extent of(const Dim& dim);
  static Extent fixed(int64_t n) { return {n, 0, 0, 0}; }
  int64_t at(const Symbols& s) const noexcept {
    return constant + tokens * s.tokens + outputs * s.outputs + past * s.past;
  }
  bool is_fixed() const noexcept { return tokens == 0 && outputs == 0 && past == 0; }
  bool operator==(const Extent&) const = default;
  Extent operator*(int64_t n) const noexcept { return {constant * n, tokens * n, outputs * n, past * n}; }
  Extent operator+(const Extent& o) const noexcept {
    return {constant + o.constant, tokens + o.tokens, outputs + o.outputs, past + o.past};
  }
};

using Extents = std::vector<Extent>;

Extents extents_of(const Shape& shape);
/// The product. Error{kModel} if more than one factor depends on the batch.
Extent product(const Extent* begin, const Extent* end);

}  // namespace atb

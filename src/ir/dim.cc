#include <atb/error.h>
#include <atb/graph.h>

#include <algorithm>

#include "ir/names.h"

namespace atb {
namespace {

[[noreturn]] void too_large() {
  throw Error(ErrorCode::kModel, "a tensor dimension does not fit into 64 bits", "", "check the shapes of the graph");
}

int64_t checked_add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) too_large();
  return sum;
}

int64_t checked_mul(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) too_large();
  return product;
}

}  // namespace

Dim Dim::symbol(std::string name) {
  if (!is_symbol_name(name)) {
    throw Error(ErrorCode::kModel, "'" + name + "' is no name for a symbolic dimension", "",
                "use letters, digits and _, not starting with a digit");
  }
  Dim dim;
  dim.terms_.emplace_back(std::move(name), 1);
  return dim;
}

int64_t Dim::evaluate(const SymbolValues& symbols) const {
  int64_t sum = constant_;
  for (const auto& [name, factor] : terms_) {
    const auto found = symbols.find(name);
    if (found == symbols.end()) throw Error(ErrorCode::kModel, "the symbol '" + name + "' has no value");
    sum = checked_add(sum, checked_mul(factor, found->second));
  }
  return sum;
}

// "2*past+tokens-1": symbols in alphabetical order, then the constant.
std::string Dim::to_string() const {
  std::string text;
  const auto append = [&text](int64_t factor, const std::string& unit) {
    if (factor > 0 && !text.empty()) text += '+';
    if (unit.empty()) {
      text += std::to_string(factor);
    } else if (factor == 1) {
      text += unit;
    } else {
      text += std::to_string(factor) + "*" + unit;
    }
  };
  for (const auto& [name, factor] : terms_) append(factor, name);
  if (constant_ != 0 || terms_.empty()) append(constant_, "");
  return text;
}

Dim Dim::operator+(const Dim& other) const {
  Dim sum = *this;
  sum.constant_ = checked_add(constant_, other.constant_);
  for (const auto& [name, factor] : other.terms_) {
    const auto at = std::lower_bound(sum.terms_.begin(), sum.terms_.end(), name,
                                     [](const auto& term, const std::string& key) { return term.first < key; });
    if (at == sum.terms_.end() || at->first != name) {
      sum.terms_.insert(at, {name, factor});
    } else if ((at->second = checked_add(at->second, factor)) == 0) {
      sum.terms_.erase(at);
    }
  }
  return sum;
}

Dim Dim::operator*(int64_t factor) const {
  if (factor == 0) return 0;
  Dim product = *this;
  product.constant_ = checked_mul(constant_, factor);
  for (auto& term : product.terms_) term.second = checked_mul(term.second, factor);
  return product;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + shape[i].to_string();
  return text + "]";
}

}  // namespace atb

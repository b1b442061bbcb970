// The attributes of a node as a list of named fields, so that print, parse, compare and hash are written once.
#pragma once

#include <atb/ops.h>

#include <span>
#include <string>
#include <variant>
#include <vector>

namespace atb {

/// A bool, a dtype or one of the enums of ops.h: a small number with a name for each value.
struct NamedField {
  uint8_t* value;
  std::span<const char* const> names;
};

struct AttrField {
  const char* name;
  std::variant<NamedField, int64_t*, float*, double*, std::vector<int64_t>*> target;
};

/// Fields point into `attrs`.
std::vector<AttrField> attr_fields(Attrs& attrs);

/// The value as it stands in a graph's text; different values have different texts.
std::string field_text(const AttrField& field);

/// Shortest text that reads back as the same number; "inf", "-inf", "nan".
std::string number_text(double value);

/// "eps = 1e-05, one_plus_weight = true": the fields that are not at the default of `op`.
std::string attrs_text(Op op, const Attrs& attrs);

}  // namespace atb

#include "ir/attr_fields.h"

#include <array>
#include <charconv>
#include <cmath>
#include <functional>

#include "base/check.h"

namespace atb {
namespace {

// In the order of the enums of ops.h.
constexpr const char* kBool[] = {"false", "true"};
constexpr const char* kActivation[] = {"gelu", "gelu_tanh", "gelu_quick", "silu", "relu", "sigmoid", "tanh"};
constexpr const char* kWeightLayout[] = {"out_in", "in_out"};
constexpr const char* kRopePairing[] = {"half", "interleaved"};
constexpr const char* kRopeScaling[] = {"none", "linear", "llama3", "yarn"};
constexpr const char* kMask[] = {"none", "bool", "additive"};
constexpr const char* kReduce[] = {"sum", "mean", "max"};
constexpr const char* kUnary[] = {"neg", "sqrt", "rsqrt", "exp", "erf", "square", "reciprocal"};
constexpr const char* kBinary[] = {"sub", "div", "max", "min", "pow"};

std::array<const char*, kDTypeCount> dtype_names() {
  std::array<const char*, kDTypeCount> names;
  for (int i = 0; i < kDTypeCount; ++i) names[static_cast<size_t>(i)] = dtype_name(static_cast<DType>(i));
  return names;
}

using Names = std::span<const char* const>;
Names names_of(bool) { return kBool; }
Names names_of(ActivationKind) { return kActivation; }
Names names_of(WeightLayout) { return kWeightLayout; }
Names names_of(RopePairing) { return kRopePairing; }
Names names_of(RopeScaling) { return kRopeScaling; }
Names names_of(MaskKind) { return kMask; }
Names names_of(ReduceKind) { return kReduce; }
Names names_of(UnaryKind) { return kUnary; }
Names names_of(BinaryKind) { return kBinary; }
Names names_of(DType) {
  static const auto names = dtype_names();
  return names;
}

struct Collector {
  std::vector<AttrField>& out;
  void operator()(const char* name, int64_t& v) { out.push_back({name, &v}); }
  void operator()(const char* name, float& v) { out.push_back({name, &v}); }
  void operator()(const char* name, double& v) { out.push_back({name, &v}); }
  void operator()(const char* name, std::vector<int64_t>& v) { out.push_back({name, &v}); }
  template <class Named>
  void operator()(const char* name, Named& v) {
    static_assert(sizeof(Named) == 1);
    out.push_back({name, NamedField{reinterpret_cast<uint8_t*>(&v), names_of(v)}});
  }
};

template <class Number>
std::string shortest(Number value) {
  if (std::isnan(value)) return "nan";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof(buffer), value).ptr;
  return std::string(buffer, end);
}

struct Printer {
  std::string operator()(const NamedField& f) const {
    ATB_CHECK(*f.value < f.names.size());
    return f.names[*f.value];
  }
  std::string operator()(const int64_t* v) const { return std::to_string(*v); }
  std::string operator()(const float* v) const { return shortest(*v); }
  std::string operator()(const double* v) const { return shortest(*v); }
  std::string operator()(const std::vector<int64_t>* v) const {
    std::string text = "[";
    for (size_t i = 0; i < v->size(); ++i) text += (i ? ", " : "") + std::to_string((*v)[i]);
    return text + "]";
  }
};

std::string all_text(Attrs attrs) {
  std::string text = std::to_string(attrs.index());
  for (const AttrField& field : attr_fields(attrs)) text += "," + field_text(field);
  return text;
}

}  // namespace

std::vector<AttrField> attr_fields(Attrs& attrs) {
  std::vector<AttrField> fields;
  std::visit([&fields](auto& a) { a.fields(Collector{fields}); }, attrs);
  return fields;
}

std::string field_text(const AttrField& field) { return std::visit(Printer{}, field.target); }

std::string number_text(double value) { return shortest(value); }

std::string attrs_text(Op op, const Attrs& attrs) {
  Attrs mine = attrs, defaults = default_attrs(op);
  ATB_CHECK(mine.index() == defaults.index());
  const auto fields = attr_fields(mine), default_fields = attr_fields(defaults);
  std::string text;
  for (size_t i = 0; i < fields.size(); ++i) {
    const std::string value = field_text(fields[i]);
    if (value == field_text(default_fields[i])) continue;
    text += (text.empty() ? "" : ", ") + std::string(fields[i].name) + " = " + value;
  }
  return text;
}

bool operator==(const Attrs& a, const Attrs& b) { return all_text(a) == all_text(b); }

size_t hash_of(const Attrs& attrs) { return std::hash<std::string>{}(all_text(attrs)); }

}  // namespace atb

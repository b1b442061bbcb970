// Attributes, types and numbers of a graph's text.
#include <charconv>
#include <limits>
#include <set>

#include "base/text.h"
#include "ir/attr_fields.h"
#include "ir/names.h"
#include "ir/parser.h"

namespace atb {
namespace {

std::string did_you_mean(const std::string& name, const std::vector<std::string>& candidates) {
  return candidates.empty() ? "there are none here" : "did you mean " + nearest_name(name, candidates) + "?";
}

const AttrField* find_field(const std::vector<AttrField>& fields, std::string_view name) {
  for (const AttrField& field : fields)
    if (name == field.name) return &field;
  return nullptr;
}

std::vector<std::string> names_of(const std::vector<AttrField>& fields) {
  std::vector<std::string> names;
  for (const AttrField& field : fields) names.emplace_back(field.name);
  return names;
}

}  // namespace

void Parser::parse_attrs(Op op, Attrs& attrs) {
  struct Reader {
    Parser& parser;
    void operator()(const NamedField& f) const { *f.value = parser.parse_named(f.names); }
    void operator()(int64_t* v) const { *v = parser.parse_integer(); }
    void operator()(float* v) const { *v = parser.parse_real<float>(); }
    void operator()(double* v) const { *v = parser.parse_real<double>(); }
    void operator()(std::vector<int64_t>* v) const { *v = parser.parse_integers(); }
  };
  const auto fields = attr_fields(attrs);
  std::set<std::string> seen;
  do {
    const Token name = take(TokenKind::kName, "the name of an attribute");
    const AttrField* field = find_field(fields, name.text);
    if (!field) {
      fail(name, "unknown attribute " + quoted(name.text) + " of " + op_info(op).name,
           did_you_mean(name.text, names_of(fields)));
    }
    if (!seen.insert(name.text).second) fail(name, "the attribute " + name.text + " stands twice");
    expect('=');
    std::visit(Reader{*this}, field->target);
  } while (accept(','));
  expect('}');
}

uint8_t Parser::parse_named(std::span<const char* const> names) {
  const Token name = take(TokenKind::kName, "a name");
  for (size_t i = 0; i < names.size(); ++i)
    if (name.text == names[i]) return static_cast<uint8_t>(i);
  fail(name, "unknown value " + quoted(name.text), did_you_mean(name.text, {names.begin(), names.end()}));
}

std::vector<int64_t> Parser::parse_integers() {
  std::vector<int64_t> values;
  expect('[');
  if (accept(']')) return values;
  do values.push_back(parse_integer());
  while (accept(','));
  expect(']');
  return values;
}

int64_t Parser::parse_integer() {
  const std::string sign = accept('-') ? "-" : "";
  const Token digits = take(TokenKind::kNumber, "an integer");
  const std::string text = sign + digits.text;
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size())
    fail(digits, quoted(text) + " is no integer of 64 bits");
  return value;
}

double Parser::parse_number() { return parse_real<double>(); }

template <class Real>
Real Parser::parse_real() {
  const bool negative = accept('-');
  const Token token = take();
  Real value = 0;
  if (token.kind == TokenKind::kName && token.text == "inf") {
    value = std::numeric_limits<Real>::infinity();
  } else if (token.kind == TokenKind::kName && token.text == "nan") {
    value = std::numeric_limits<Real>::quiet_NaN();
  } else {
    const char* last = token.text.data() + token.text.size();
    const auto [end, error] = std::from_chars(token.text.data(), last, value);
    if (token.kind != TokenKind::kNumber || error != std::errc() || end != last)
      fail(token, quoted(token.text) + " is no number that fits", "inf, -inf and nan are numbers too");
  }
  return negative ? -value : value;
}

Parser::Type Parser::parse_type() {
  Type type{parse_dtype_name(), {}};
  expect('[');
  if (accept(']')) return type;
  do type.shape.push_back(parse_dim());
  while (accept(','));
  expect(']');
  return type;
}

DType Parser::parse_dtype_name() {
  const Token name = take(TokenKind::kName, "a dtype");
  if (const auto dtype = parse_dtype(name.text)) return *dtype;
  std::vector<std::string> known;
  for (int i = 0; i < kDTypeCount; ++i) known.emplace_back(dtype_name(static_cast<DType>(i)));
  fail(name, "unknown dtype " + quoted(name.text), did_you_mean(name.text, known));
}

Dim Parser::parse_dim() {
  const Token start = token_;
  Dim dim = parse_term(accept('-') ? -1 : 1);
  while (at_mark('+') || at_mark('-')) {
    const Dim term = parse_term(take().text == "-" ? -1 : 1);
    dim = located(start, [&] { return dim + term; });
  }
  return dim;
}

// INTEGER [ "*" SYMBOL ] | SYMBOL, times `sign`
Dim Parser::parse_term(int64_t sign) {
  const Token start = token_;
  Dim term = 1;
  if (token_.kind == TokenKind::kName) {
    term = Dim::symbol(take().text);
  } else {
    const int64_t number = parse_integer();
    const Dim unit = accept('*') ? Dim::symbol(take(TokenKind::kName, "a symbol").text) : Dim(1);
    term = located(start, [&] { return unit * number; });
  }
  return located(start, [&] { return term * sign; });
}

}  // namespace atb

// GELU in its two published forms (Hendrycks & Gimpel 2016). They differ by up to 4.7e-4: each is only found with its
// own literals.
#include <cmath>
#include <numbers>

#include "fusion/recognise/product.h"
#include "fusion/recognise/recogniser.h"

namespace atb::recognising {
namespace {

const double kSqrt2OverPi = std::sqrt(2 / std::numbers::pi);
constexpr double kCubic = 0.044715;

// u = scale * x as a whole (erf), or scale * (x + cubic * x³) (tanh).
struct Argument {
  ValueId x = kNoValue;
  double scale = 0, cubic = 0;
  std::vector<ValueId> interior;
};

bool is_cube(const Editor& g, ValueId id, ValueId x, std::vector<ValueId>& interior) {
  interior.push_back(id);
  if (const Node* power = g.binary(id, BinaryKind::kPow))
    return power->inputs[0] == x && g.number(power->inputs[1]) == 3.0;
  const auto other = g.beside(id, Op::kMul, x);
  const Node* square = other ? g.unary(*other, UnaryKind::kSquare) : nullptr;
  if (!square || square->inputs[0] != x) return false;
  interior.push_back(square->output);
  return true;
}

// x + c x³
bool match_sum(const Editor& g, ValueId id, Argument& u) {
  const Node* sum = g.made_by(id, Op::kAdd);
  if (!sum) return false;
  for (const size_t side : {0u, 1u}) {
    const auto cubic = g.scaled(sum->inputs[side]);
    std::vector<ValueId> interior = {id, sum->inputs[side]};
    if (!cubic || !is_cube(g, cubic->x, sum->inputs[1 - side], interior)) continue;
    u.x = sum->inputs[1 - side];
    u.cubic = cubic->c;
    u.interior.insert(u.interior.end(), interior.begin(), interior.end());
    return true;
  }
  return false;
}

// 1 + c x², to be multiplied by x
bool match_factor(const Editor& g, ValueId id, Argument& u) {
  const auto sum = g.shifted(id);
  const auto quadratic = sum && sum->c == 1 ? g.scaled(sum->x) : std::nullopt;
  const Node* square = quadratic ? g.unary(quadratic->x, UnaryKind::kSquare) : nullptr;
  if (!square) return false;
  u.x = square->inputs[0];
  u.cubic = quadratic->c;
  u.interior.insert(u.interior.end(), {id, sum->x, square->output});
  return true;
}

std::optional<Argument> cubic_argument(const Editor& g, ValueId id) {
  Argument u;
  u.interior.push_back(id);
  if (const auto scaled = g.scaled(id)) {
    u.scale = scaled->c;
    if (match_sum(g, scaled->x, u)) return u;
  }
  for (const ValueId factor : product_of(g, id).factors) {
    if (!match_factor(g, factor, u)) continue;
    const Product product = product_of(g, id, u.x);
    if (!product.has(u.x, factor)) return std::nullopt;
    u.scale = product.c;
    u.interior.insert(u.interior.end(), product.interior.begin(), product.interior.end());
    return u;
  }
  return std::nullopt;
}

std::optional<Argument> linear_argument(const Editor& g, ValueId id) {
  const auto scaled = g.scaled(id);
  if (!scaled) return std::nullopt;
  return Argument{scaled->x, scaled->c, kCubic, {id}};
}

bool refuse_literals(Editor& g, ValueId root, const Argument& u, double outer) {
  return g.refuse(root, "literal",
                  "its numbers are not GELU's: factor " + std::to_string(outer) + ", scale " + std::to_string(u.scale) +
                      ", cubic " + std::to_string(u.cubic));
}

// root = outer * x * gate with the literals that belong to `kind`.
bool finish(Editor& g, ValueId root, ActivationKind kind, double outer, double scale, ValueId gate, Argument u) {
  const Product product = product_of(g, root, u.x);
  if (!product.has(u.x, gate)) return false;
  if (!is_literal(product.c, outer) || !is_literal(u.scale, scale) || !is_literal(u.cubic, kCubic))
    return refuse_literals(g, root, u, product.c);
  std::vector<ValueId> interior = std::move(u.interior);
  interior.insert(interior.end(), product.interior.begin(), product.interior.end());
  interior.push_back(gate);
  if (const auto sum = g.shifted(gate)) interior.push_back(sum->x);
  if (!g.closed(root, interior)) return false;
  interior.push_back(root);
  g.replace(root, g.add(Op::kActivation, ActivationAttrs{kind}, {u.x}, shared_path(g, interior)));
  return true;
}

bool is_product(const Editor& g, ValueId id) { return g.made_by(id, Op::kMul) || g.scaled(id); }

}  // namespace

bool gelu_erf(Editor& g, ValueId root) {
  if (!is_product(g, root)) return false;
  for (const ValueId gate : product_of(g, root).factors) {
    const auto sum = g.shifted(gate);
    const Node* erf = sum && sum->c == 1 ? g.unary(sum->x, UnaryKind::kErf) : nullptr;
    const auto u = erf ? linear_argument(g, erf->inputs[0]) : std::nullopt;
    if (u && finish(g, root, ActivationKind::kGelu, 0.5, 1 / std::numbers::sqrt2, gate, *u)) return true;
  }
  return false;
}

// Also as x * sigmoid(2 u), which is the same function.
bool gelu_tanh(Editor& g, ValueId root) {
  if (!is_product(g, root)) return false;
  for (const ValueId gate : product_of(g, root).factors) {
    const auto sum = g.shifted(gate);
    const Node* tanh = sum && sum->c == 1 ? g.activation(sum->x, ActivationKind::kTanh) : nullptr;
    const Node* sigmoid = g.activation(gate, ActivationKind::kSigmoid);
    if (!tanh && !sigmoid) continue;
    const auto u = cubic_argument(g, (tanh ? tanh : sigmoid)->inputs[0]);
    const double outer = tanh ? 0.5 : 1, scale = tanh ? kSqrt2OverPi : 2 * kSqrt2OverPi;
    if (u && finish(g, root, ActivationKind::kGeluTanh, outer, scale, gate, *u)) return true;
  }
  return false;
}

}  // namespace atb::recognising

#include "ir/infer/rules.h"

#include <atb/error.h>

#include <algorithm>

#include "ir/value_rules.h"

namespace atb::infer_rules {
namespace {

std::optional<Shape> try_broadcast(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    Dim& dim = result[longer.size() - shorter.size() + i];
    if (dim == Dim(1)) {
      dim = shorter[i];
    } else if (shorter[i] != dim && shorter[i] != Dim(1)) {
      return std::nullopt;
    }
  }
  return result;
}

std::string as_role(const Value& value, const char* role) { return std::string(role) + " is " + describe(value); }

}  // namespace

void refuse(const std::string& message, const std::string& hint) { throw Error(ErrorCode::kModel, message, "", hint); }

void need(bool condition, const std::string& message) {
  if (!condition) refuse(message);
}

void need_floating(const Value& value, const char* role) {
  if (!dtype_info(value.dtype).floating) refuse(as_role(value, role) + ", expected a floating dtype");
}

void need_integer(const Value& value, const char* role) {
  if (value.dtype != DType::kI32 && value.dtype != DType::kI64) refuse(as_role(value, role) + ", expected i32 or i64");
}

void need_rank(const Value& value, const char* role, size_t at_least) {
  if (value.shape.size() < at_least)
    refuse(as_role(value, role) + ", expected at least " + std::to_string(at_least) + " dimensions");
}

void need_same_dtype(const Value& a, const Value& b) {
  if (a.dtype != b.dtype) refuse("dtypes differ: " + describe(a) + ", " + describe(b), "insert a cast");
}

const Dim& dim_from_end(const Value& value, size_t from_end) {
  return value.shape.at(value.shape.size() - 1 - from_end);
}

Shape leading(const Value& value, size_t count) {
  return Shape(value.shape.begin(), value.shape.end() - static_cast<std::ptrdiff_t>(count));
}

Shape broadcast(const Value& a, const Value& b) {
  if (auto shape = try_broadcast(a.shape, b.shape)) return *shape;
  refuse("shapes do not broadcast: " + describe(a) + ", " + describe(b),
         "sizes must be equal or 1; symbolic sizes only match the same expression");
}

bool broadcasts_to(const Shape& from, const Shape& to) { return try_broadcast(from, to) == to; }

size_t axis_of(const Value& value, int64_t axis) {
  const auto rank = static_cast<int64_t>(value.shape.size());
  if (axis < -rank || axis >= rank) refuse("axis " + std::to_string(axis) + " is outside of " + describe(value));
  return static_cast<size_t>(axis < 0 ? axis + rank : axis);
}

}  // namespace atb::infer_rules

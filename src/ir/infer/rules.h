// What the inference functions share. Each operator has one function here, named after its line of ops.inc.
#pragma once

#include <atb/graph.h>

#include <span>
#include <string>

#include "ir/infer.h"

namespace atb::infer_rules {

using Operands = std::span<const Value* const>;

#define ATB_OP(id, name, attrs, min_inputs, max_inputs, kind) Inferred infer##id(const attrs&, Operands);
#include <atb/ops.inc>
#undef ATB_OP

/// Throws Error{kModel}; Graph::add puts operator and path in front.
[[noreturn]] void refuse(const std::string& message, const std::string& hint = "");

// `role` is what the operand is to its operator: "x", "weight", "positions".
void need_floating(const Value& value, const char* role);
void need_integer(const Value& value, const char* role);
void need_rank(const Value& value, const char* role, size_t at_least);
void need(bool condition, const std::string& message);
/// Error unless dtypes are equal.
void need_same_dtype(const Value& a, const Value& b);

/// The dimension `from_end` places before the last.
const Dim& dim_from_end(const Value& value, size_t from_end);
/// All but the last `count` dimensions.
Shape leading(const Value& value, size_t count);
/// NumPy broadcasting; symbols only match the same expression, and 1.
Shape broadcast(const Value& a, const Value& b);
/// Whether `from` broadcasts to exactly `to`.
bool broadcasts_to(const Shape& from, const Shape& to);
/// The place of an axis that may count from the end.
size_t axis_of(const Value& value, int64_t axis);

}  // namespace atb::infer_rules

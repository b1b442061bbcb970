#include <atb/ops.h>

#include "base/check.h"

namespace atb {
namespace {

constexpr OpInfo kOps[] = {
#define ATB_OP(id, name, attrs, min_inputs, max_inputs, kind) {Op::k##id, name, min_inputs, max_inputs, OpKind::kind},
#include <atb/ops.inc>
#undef ATB_OP
};

}  // namespace

int op_count() noexcept { return static_cast<int>(std::size(kOps)); }

const OpInfo& op_info(Op op) noexcept { return kOps[static_cast<size_t>(op)]; }

const OpInfo* find_op(std::string_view name) noexcept {
  for (const OpInfo& info : kOps)
    if (name == info.name) return &info;
  return nullptr;
}

Attrs default_attrs(Op op) {
  switch (op) {
#define ATB_OP(id, name, attrs, min_inputs, max_inputs, kind) \
  case Op::k##id:                                             \
    return attrs{};
#include <atb/ops.inc>
#undef ATB_OP
  }
  ATB_CHECK(!"an operator outside the table");
  return {};
}

}  // namespace atb

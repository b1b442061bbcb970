#include "engine/machine.h"

#include <atb/engine.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "engine/settings.h"
#include "kernels/matmul/matmul.h"

namespace atb {
namespace {

int64_t cache_bytes(int sysconf_name) { return std::max<int64_t>(sysconf(sysconf_name), 0); }

struct CubeDtype {
  PackKind kind;
  const char* name;
};
constexpr CubeDtype kCubeDtypes[] = {{PackKind::kQ8, "int8"}, {PackKind::kBf16, "bf16"}, {PackKind::kF32, "fp32"}};

}  // namespace

std::string cube_name(const IsaSet& isas) {
  std::vector<std::string> parts;
  for (const CubeDtype& row : kCubeDtypes) {
    parts.push_back(fmt::format("{} {}", isa_name(select_matmul(row.kind, isas).isa), row.name));
  }
  return join(parts, ", ");
}

std::string vector_name(const IsaSet& isas) {
  for (Isa isa : {Isa::kAvx512, Isa::kAvx2}) {
    if (isas.has(isa)) return isa_name(isa);
  }
  return isa_name(Isa::kPortable);
}

MachineDescription describe_machine(const LoadOptions& options) {
  const Settings settings = resolve_settings(options);
  const int64_t l2 = cache_bytes(_SC_LEVEL2_CACHE_SIZE), l3 = cache_bytes(_SC_LEVEL3_CACHE_SIZE);
  return {
      .cpu = cpu_features().brand,
      .isa = isa_name(settings.isas.best()),
      .cube = cube_name(settings.isas),
      .vector = vector_name(settings.isas),
      .threads_reason = settings.threads.reason,
      .l2_bytes = l2,
      .llc_bytes = l3 > 0 ? l3 : l2,
      .threads = settings.threads.threads,
  };
}

}  // namespace atb

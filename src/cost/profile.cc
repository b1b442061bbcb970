#include "cost/profile.h"

#include <atb/error.h>

#include <algorithm>
#include <filesystem>

#include "base/cpu.h"
#include "base/text.h"

namespace atb {
namespace {

const std::vector<DeviceProfile>& builtin_profiles() {
  static const std::vector<DeviceProfile> profiles = {
#define ATB_PROFILE(...) DeviceProfile{__VA_ARGS__},
#include "cost/profiles.inc"
#undef ATB_PROFILE
  };
  return profiles;
}

/// The built-in row whose matrix paths are those of that instruction set.
const char* row_of(Isa isa) {
  switch (isa) {
    case Isa::kAmx:
      return "emerald_rapids";
    case Isa::kAvx512:
    case Isa::kAvx512Vnni:
    case Isa::kAvx512Bf16:
      return "zen4";
    default:
      return "avx2_desktop";
  }
}

DeviceProfile derived_host() {
  const Isa isa = cpu_features().best();
  DeviceProfile host = builtin_profile(row_of(isa));
  host.source = "not measured: the built-in row " + host.name + ", chosen for " + isa_name(isa);
  host.description = cpu_features().brand;
  host.name = "host";
  return host;
}

}  // namespace

double DeviceProfile::cube_rate(DType dtype) const noexcept {
  if (dtype_info(dtype).quantized || dtype == DType::kI8 || dtype == DType::kU8) return cube_int8;
  if (dtype == DType::kBF16) return cube_bf16;
  return dtype == DType::kF16 ? cube_f16 : cube_f32;
}

std::vector<std::string> builtin_profile_names() {
  std::vector<std::string> names;
  for (const DeviceProfile& profile : builtin_profiles()) names.push_back(profile.name);
  return names;
}

const DeviceProfile& builtin_profile(const std::string& name) {
  const auto& all = builtin_profiles();
  const auto found = std::find_if(all.begin(), all.end(), [&](const DeviceProfile& p) { return p.name == name; });
  if (found != all.end()) return *found;
  std::vector<std::string> known = builtin_profile_names();
  known.push_back("host");
  throw Error(ErrorCode::kUsage, "unknown device '" + name + "'", "device profile",
              "did you mean '" + nearest_name(name, known) + "'? Known are " + join(known, ", ") +
                  ", or the path of a JSON file");
}

DeviceProfile host_profile(const std::string& cache) {
  std::error_code ignored;
  if (cache.empty() || !std::filesystem::exists(cache, ignored)) return derived_host();
  return load_profile(cache);
}

DeviceProfile find_profile(const std::string& name_or_path, const std::string& host_cache) {
  if (name_or_path == "host") return host_profile(host_cache);
  if (name_or_path.find_first_of("/.") != std::string::npos) return load_profile(name_or_path);
  return builtin_profile(name_or_path);
}

}  // namespace atb

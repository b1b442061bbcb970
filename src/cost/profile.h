// A device as the planner sees it: plain numbers, no code. Rows of profiles.inc, a measured host, or a user's JSON
// file.
#pragma once

#include <atb/dtype.h>

#include <cstdint>
#include <string>
#include <vector>

namespace atb {

struct DeviceProfile {
  std::string name, description, source;
  // Peak rates of the whole device, operations per second (a multiply-add counts two).
  double cube_f32 = 0, cube_f16 = 0, cube_bf16 = 0, cube_int8 = 0;
  double vector_ops = 0;
  // Memory levels, outermost last. Bytes and bytes per second.
  double sram_bytes = 0, sram_bandwidth = 0;  ///< per core where `row_tiled`, else shared by one kernel
  double llc_bytes = 0, llc_bandwidth = 0;    ///< 0: none worth the name
  double memory_bandwidth = 0, memory_bandwidth_one = 0;
  int cores = 1;
  // Costs of one kernel, seconds.
  double launch = 0, barrier = 0;
  // Kernels of more than `icache_operators` operators run slower by this factor per further operator.
  int icache_operators = 0;
  double icache_penalty = 0;
  /// true: a kernel works on a tile of rows at a time (host). false: what it keeps on chip is the whole tensor (910).
  bool row_tiled = true;

  double cube_rate(DType dtype) const noexcept;
};

/// The built-in profile of that name, Error{kUsage} with the list and the nearest name otherwise.
const DeviceProfile& builtin_profile(const std::string& name);
std::vector<std::string> builtin_profile_names();

/// A user's profile. Error{kFile} or {kUsage} names the file, the key, the value found and the range expected.
DeviceProfile load_profile(const std::string& path);
std::string profile_to_json(const DeviceProfile& profile);

}  // namespace atb

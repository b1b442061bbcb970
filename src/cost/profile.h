// A device as the planner sees it: plain numbers, no code. Rows of profiles.inc, a measured host, or a user's JSON
// file. docs/cost_model.md says what the model makes of each number.
#pragma once

#include <atb/dtype.h>

#include <string>
#include <vector>

namespace atb {

struct DeviceProfile {
  std::string name, description, source;
  // Peak rates of the whole device, operations per second (a multiply-add counts two), and the share of the matrix
  // peak that a kernel reaches.
  double cube_f32 = 0, cube_f16 = 0, cube_bf16 = 0, cube_int8 = 0;
  double cube_efficiency = 1;
  double vector_ops = 0;
  double vector_efficiency = 1;  ///< share of vector_ops that a kernel reaches
  // Memory levels, outermost last. Bytes and bytes per second.
  double sram_bytes = 0, sram_bandwidth = 0;  ///< per core where `row_tiled`, else shared by one kernel
  double llc_bytes = 0, llc_bandwidth = 0;    ///< 0: none worth the name
  double memory_bandwidth = 0, memory_bandwidth_one = 0;
  double memory_efficiency = 1;  ///< share of memory_bandwidth that a kernel reaches
  int cores = 1;
  // Costs in seconds: of one kernel, of one wait for all cores, of one activation tensor on its way through memory (on
  // top of its bytes), of one step of the model outside of its kernels.
  double launch = 0, barrier = 0, round_trip = 0, step = 0;
  // How much of the shorter of matrix, vector and memory time hides behind the longest: kernels of one operator, and
  // kernels of several.
  double overlap = 1, fused_overlap = 1;
  // Kernels of more than `icache_operators` operators compute slower by this factor per further operator.
  int icache_operators = 0;
  double icache_penalty = 0;
  /// true: a kernel works on a tile of rows at a time (host). false: what it keeps on chip is the whole tensor (910).
  bool row_tiled = true;
  /// false: a result of the matrix unit reaches the vector unit through the last level only (910B).
  bool cube_to_vector = true;
  // One weight panel of the matrix kernels: columns of the result, steps along the contraction.
  int panel_columns = 32, panel_depth = 1024;

  /// Peak for weights of that dtype: block formats multiply as int8, other integers and f64 as f32.
  double cube_rate(DType dtype) const noexcept;
};

/// The built-in profile of that name, Error{kUsage} with the list and the nearest name otherwise.
const DeviceProfile& builtin_profile(const std::string& name);
std::vector<std::string> builtin_profile_names();

/// A user's profile. Error{kFile} names the file, the key, the value found and the range expected; an unknown key gets
/// the nearest known one.
DeviceProfile load_profile(const std::string& path);
/// The same from text; `where` stands for the file in errors.
DeviceProfile parse_profile(const std::string& json, const std::string& where);
/// parse_profile of it is the same profile.
std::string profile_to_json(const DeviceProfile& profile);

/// This machine: the probe's record in the file `cache`, else (no such file, or an empty path) the built-in row nearest
/// by instruction set, named "host", whose `source` says that it is not measured.
DeviceProfile host_profile(const std::string& cache);

/// What ATB_DEVICE_PROFILE and --device take: "host", a built-in name, or a JSON file (a text with '/' or '.').
DeviceProfile find_profile(const std::string& name_or_path, const std::string& host_cache);

}  // namespace atb

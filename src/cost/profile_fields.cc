#include "cost/profile_fields.h"

namespace atb {
namespace {

using P = DeviceProfile;
// Rates from a 1 MHz scalar core up to what no single device has.
constexpr double kLeastRate = 1e6, kMostRate = 1e18, kMostBytes = 1e13, kMostSeconds = 1;

constexpr ProfileField kFields[] = {
    {"name", &P::name, 0, 0, true, "", "how reports call the device"},
    {"description", &P::description, 0, 0, false, "", "what it is"},
    {"source", &P::source, 0, 0, false, "", "where the figures come from"},
    {"cube_f32", &P::cube_f32, kLeastRate, kMostRate, true, "op/s", "matrix peak, fp32"},
    {"cube_f16", &P::cube_f16, kLeastRate, kMostRate, true, "op/s", "matrix peak, fp16 weights"},
    {"cube_bf16", &P::cube_bf16, kLeastRate, kMostRate, true, "op/s", "matrix peak, bf16 weights"},
    {"cube_int8", &P::cube_int8, kLeastRate, kMostRate, true, "op/s", "matrix peak, int8 and block formats"},
    {"cube_efficiency", &P::cube_efficiency, 1e-3, 1, false, "", "share of that peak that kernels reach"},
    {"vector_ops", &P::vector_ops, kLeastRate, kMostRate, true, "op/s", "peak of everything but matrices"},
    {"vector_efficiency", &P::vector_efficiency, 1e-3, 1, false, "", "share of that peak that kernels reach"},
    {"sram_bytes", &P::sram_bytes, 1, kMostBytes, true, "B", "on-chip memory: per core if row_tiled, else in all"},
    {"sram_bandwidth", &P::sram_bandwidth, kLeastRate, kMostRate, false, "B/s", "its bandwidth, all cores"},
    {"llc_bytes", &P::llc_bytes, 0, kMostBytes, false, "B", "shared last level, 0 if not faster than memory"},
    {"llc_bandwidth", &P::llc_bandwidth, 0, kMostRate, false, "B/s", "its bandwidth"},
    {"memory_bandwidth", &P::memory_bandwidth, kLeastRate, kMostRate, true, "B/s", "memory, all cores reading"},
    {"memory_bandwidth_one", &P::memory_bandwidth_one, 0, kMostRate, false, "B/s", "memory, one core; 0: unknown"},
    {"memory_efficiency", &P::memory_efficiency, 1e-3, 1, false, "", "share of that bandwidth that kernels reach"},
    {"cores", &P::cores, 1, 1e6, false, "", "cores that share a kernel"},
    {"launch", &P::launch, 0, kMostSeconds, false, "s", "starting one kernel"},
    {"barrier", &P::barrier, 0, kMostSeconds, false, "s", "one wait for all cores"},
    {"round_trip", &P::round_trip, 0, kMostSeconds, false, "s", "latency of one activation tensor through memory"},
    {"step", &P::step, 0, kMostSeconds, false, "s", "one step of the model outside of its kernels"},
    {"overlap", &P::overlap, 0, 1, false, "", "hidden share of the shorter times, kernels of one operator"},
    {"fused_overlap", &P::fused_overlap, 0, 1, false, "", "the same, kernels of several operators"},
    {"icache_operators", &P::icache_operators, 0, 1e6, false, "", "operators whose code fits the instruction cache"},
    {"icache_penalty", &P::icache_penalty, 0, 10, false, "", "slowdown of computing per operator beyond them"},
    {"row_tiled", &P::row_tiled, 0, 0, false, "", "kernels work on a tile of rows at a time"},
    {"cube_to_vector", &P::cube_to_vector, 0, 0, false, "", "matrix results reach the vector unit on chip"},
    {"panel_columns", &P::panel_columns, 1, 1e6, false, "", "result columns of one weight panel"},
    {"panel_depth", &P::panel_depth, 1, 1e6, false, "", "contraction steps of one weight panel"},
};

}  // namespace

std::span<const ProfileField> profile_fields() { return kFields; }

}  // namespace atb

// Does a region fit on chip, and how high may its tile be?
#include <algorithm>
#include <map>

#include "cost/cost_model.h"
#include "cost/region_view.h"

namespace atb {
namespace {

// Sum and sum of squares, or maximum and sum of exponentials, in fp32.
constexpr double kStatisticsBytes = 8, kAccumulatorBytes = 4;

bool has_statistics(OpKind kind) { return kind == OpKind::kRowwise || kind == OpKind::kReduce; }

/// The region's values live in the slab of a tile from the node that makes them to the last one that reads them; what
/// comes in is there from the start, what goes out to the end.
class Slab {
 public:
  explicit Slab(const RegionView& region) : region_(region) {
    for (size_t step = 0; step < region.nodes().size(); ++step) place(step);
  }

  /// Most bytes per row at any one step.
  double row_bytes() const {
    double most = 0;
    for (size_t step = 0; step < region_.nodes().size(); ++step) {
      double sum = 0;
      for (const auto& [value, span] : spans_)
        if (span.first <= step && step <= span.last) sum += span.bytes;
      most = std::max(most, sum);
    }
    return most;
  }

 private:
  struct Span {
    size_t first, last;
    double bytes;
  };

  void place(size_t step) {
    const Node& node = region_.node(region_.nodes()[step]);
    for (ValueId input : node.inputs) touch(region_.root(input), step);
    if (op_info(node.op).kind == OpKind::kView) return;
    touch(node.output, step);
    if (region_.escapes(node.output)) touch(node.output, region_.nodes().size() - 1);
  }

  void touch(ValueId id, size_t step) {
    if (!region_.is_activation(id)) return;
    const size_t first = region_.produces(id) ? step : 0;
    const auto [span, added] = spans_.try_emplace(id, Span{first, step, 0});
    if (added) span->second.bytes = region_.row_bytes(id);
    span->second.last = std::max(span->second.last, step);
  }

  const RegionView& region_;
  std::map<ValueId, Span> spans_;
};

/// Two panels of the widest second operand of a matrix operation: one computes while the next arrives.
double panel_bytes(const RegionView& region, const DeviceProfile& profile) {
  double most = 0;
  for (NodeId id : region.nodes()) {
    if (region.kind(id) != OpKind::kContract) continue;
    const DTypeInfo& type = dtype_info(region.value(region.node(id).inputs[1]).dtype);
    most = std::max(
        most, static_cast<double>(profile.panel_columns) * profile.panel_depth * type.block_bytes / type.block_size);
  }
  return 2 * most;
}

double scratch_row_bytes(const RegionView& region, const DeviceProfile& profile) {
  double bytes = 0;
  bool multiplies = false;
  for (NodeId id : region.nodes()) {
    if (has_statistics(region.kind(id))) bytes += kStatisticsBytes;
    multiplies = multiplies || region.kind(id) == OpKind::kContract;
  }
  return bytes + (multiplies ? profile.panel_columns * kAccumulatorBytes : 0);
}

Capacity tile_capacity(const RegionView& region, int64_t rows, const DeviceProfile& profile) {
  const double fixed = panel_bytes(region, profile);
  const double per_row = std::max(1.0, Slab(region).row_bytes() + scratch_row_bytes(region, profile));
  Capacity capacity;
  capacity.available = static_cast<int64_t>(profile.sram_bytes);
  const double height = std::max(0.0, (profile.sram_bytes - fixed) / per_row);
  capacity.tile_rows = static_cast<int64_t>(std::min(height, static_cast<double>(rows)));
  capacity.used = static_cast<int64_t>(fixed + per_row * static_cast<double>(std::max<int64_t>(1, capacity.tile_rows)));
  return capacity;
}

/// Is this value handed, as it is or through element-wise operators, to a norm or a matrix product of the region?
bool feeds_stage(const RegionView& region, ValueId id) {
  return std::any_of(region.users(id).begin(), region.users(id).end(), [&](NodeId user) {
    if (!region.contains(user)) return false;
    const OpKind kind = region.kind(user);
    return kind == OpKind::kContract || kind == OpKind::kRowwise || feeds_stage(region, region.node(user).output);
  });
}

/// A norm hands its rows to the matrix unit one by one (article 2, mode two), scores never exist whole (flash
/// attention), and the cache is in memory: none of them is kept.
bool is_kept_whole(const RegionView& region, NodeId id) {
  const Value& v = region.value(region.node(id).output);
  const OpKind kind = region.kind(id);
  if (kind == OpKind::kRowwise || kind == OpKind::kView || kind == OpKind::kState || v.shape.empty() ||
      !v.shape.back().is_constant())
    return false;
  return feeds_stage(region, region.node(id).output);
}

Capacity whole_tensor_capacity(const RegionView& region, int64_t rows, const DeviceProfile& profile) {
  double most = 0;
  for (NodeId id : region.nodes())
    if (is_kept_whole(region, id))
      most = std::max(most, static_cast<double>(rows) * region.row_bytes(region.node(id).output));
  Capacity capacity;
  capacity.used = static_cast<int64_t>(most);
  capacity.available = static_cast<int64_t>(profile.sram_bytes);
  capacity.tile_rows = most <= profile.sram_bytes ? rows : 0;
  return capacity;
}

}  // namespace

Capacity CostModel::capacity(std::span<const NodeId> nodes) const {
  const RegionView region(*this, nodes);
  return profile_.row_tiled ? tile_capacity(region, workload_.rows(), profile_)
                            : whole_tensor_capacity(region, workload_.rows(), profile_);
}

}  // namespace atb

#include "cost/cost_model.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "base/check.h"
#include "cost/op_work.h"
#include "cost/region_view.h"

namespace atb {
namespace {

// Below this many rows per core a kernel splits columns instead of rows: the height of a register tile.
constexpr int64_t kRowBlock = 8;

bool is_gather(Op op) { return op_info(op).kind == OpKind::kGather; }

/// Distinct tensors of a kernel and their bytes.
class Traffic {
 public:
  Traffic(const RegionView& region, KernelCost& cost) : region_(region), cost_(cost) {}

  void count(NodeId id) {
    const Node& node = region_.node(id);
    for (size_t i = 0; i < node.inputs.size(); ++i) read(node, i);
    if (node.op == Op::kKvAppend) {
      cost_.state_bytes += region_.bytes(node.inputs[1]);
    } else if (region_.escapes(node.output)) {
      transfer(region_.base(node.output), region_.bytes(node.output));
    }
  }

 private:
  void read(const Node& node, size_t input) {
    const ValueId id = region_.base(node.inputs[input]);
    if (region_.is_weight(id)) return read_weight(node, input, id);
    if (region_.is_state(id)) return read_state(node, id);
    if (!region_.is_activation(id) || region_.produces(region_.root(id)) || !seen_.insert(id).second) return;
    transfer(id, is_gather(node.op) ? region_.bytes(node.output) : region_.bytes(id));
  }

  /// A gather reads the rows that it picks.
  void read_weight(const Node& node, size_t input, ValueId id) {
    if (!seen_.insert(id).second || region_.value(id).kind == ValueKind::kConstant) return;
    const bool gathered = is_gather(node.op) && input == 0;
    const double rows = gathered ? region_.elements(node.output) / region_.elements(id) : 1;
    cost_.weight_bytes += region_.bytes(id) * rows;
  }

  /// kv_append writes behind the old rows and leaves them alone.
  void read_state(const Node& node, ValueId id) {
    if (node.op != Op::kKvAppend && seen_.insert(id).second) cost_.state_bytes += region_.bytes(id);
  }

  void transfer(ValueId id, double bytes) {
    if (!region_.is_activation(id)) return;
    ++cost_.round_trips;
    cost_.activation_bytes += bytes;
  }

  const RegionView& region_;
  KernelCost& cost_;
  std::set<ValueId> seen_;
};

/// Interior bytes that go from the matrix unit to the vector unit or back.
double crossing_bytes(const RegionView& region) {
  double bytes = 0;
  for (NodeId id : region.nodes()) {
    const bool cube = region.kind(id) == OpKind::kContract;
    for (ValueId id_in : region.node(id).inputs) {
      const ValueId input = region.root(id_in);
      if (!region.produces(input)) continue;
      if ((region.kind(region.value(input).producer) == OpKind::kContract) != cube) bytes += 2 * region.bytes(input);
    }
  }
  return bytes;
}

/// Matrix products that wait for each other when columns are split over cores.
int64_t product_depth(const RegionView& region) {
  std::map<ValueId, int64_t> depth;
  int64_t deepest = 1;
  for (NodeId id : region.nodes()) {
    int64_t d = 0;
    for (ValueId input : region.node(id).inputs)
      if (const auto found = depth.find(input); found != depth.end()) d = std::max(d, found->second);
    d += region.node(id).op == Op::kMatMul ? 1 : 0;
    depth[region.node(id).output] = d;
    deepest = std::max(deepest, d);
  }
  return deepest;
}

/// How long the units work: the longest of the three, and what the others do not hide behind it.
double busy_seconds(const KernelCost& cost, double overlap) {
  const double longest = std::max({cost.cube_seconds, cost.vector_seconds, cost.memory_seconds});
  return longest + (1 - overlap) * (cost.cube_seconds + cost.vector_seconds + cost.memory_seconds - longest);
}

void add_to(KernelCost& total, const KernelCost& part) {
  total.operators += part.operators;
  total.round_trips += part.round_trips;
  total.weight_passes = std::max(total.weight_passes, part.weight_passes);
  for (double KernelCost::*field : {&KernelCost::activation_bytes, &KernelCost::weight_bytes, &KernelCost::state_bytes,
                                    &KernelCost::cube_ops, &KernelCost::vector_ops, &KernelCost::cube_seconds,
                                    &KernelCost::vector_seconds, &KernelCost::memory_seconds, &KernelCost::seconds})
    total.*field += part.*field;
}

}  // namespace

SymbolValues Workload::symbols() const {
  return {{"tokens", tokens}, {"past", past}, {"outputs", std::min<int64_t>(tokens, 1)}, {"batch", batch}};
}

CostModel::CostModel(const Graph& graph, const Workload& workload, const DeviceProfile& profile)
    : graph_(graph),
      workload_(workload),
      profile_(profile),
      users_(graph.users()),
      weight_(graph.values().size()),
      output_(graph.values().size()),
      batch_factor_(static_cast<double>(workload.batch)) {
  for (size_t i = 0; i < weight_.size(); ++i) {
    const Value& v = graph.values()[i];
    weight_[i] = v.kind == ValueKind::kParam || v.kind == ValueKind::kConstant;
    for (const Dim& dim : v.shape)
      for (const auto& term : dim.terms())
        if (term.first == "batch") batch_factor_ = 1;
  }
  for (const Node& node : graph.nodes())
    weight_[static_cast<size_t>(node.output)] = std::all_of(
        node.inputs.begin(), node.inputs.end(), [&](ValueId id) { return weight_[static_cast<size_t>(id)]; });
  for (const auto& [name, id] : graph.outputs()) output_[static_cast<size_t>(id)] = true;
}

bool CostModel::is_operator(NodeId node) const {
  const Node& n = graph_.node(node);
  return op_info(n.op).kind != OpKind::kView && !weight_[static_cast<size_t>(n.output)];
}

KernelCost CostModel::kernel(std::span<const NodeId> nodes) const {
  const RegionView region(*this, nodes);
  KernelCost cost;
  Traffic traffic(region, cost);
  for (NodeId id : region.nodes()) {
    if (!is_operator(id)) continue;
    ++cost.operators;
    traffic.count(id);
    count_work(id, cost);
  }
  if (cost.operators == 0) return cost;
  const double slower =
      1 + profile_.icache_penalty * static_cast<double>(std::max<int64_t>(0, cost.operators - icache_limit()));
  cost.cube_seconds *= slower;
  cost.vector_seconds = slower * cost.vector_ops / (profile_.vector_ops * profile_.vector_efficiency);
  cost.weight_passes = weight_passes(region, cost);
  cost.memory_seconds = memory_seconds(region, cost);
  cost.seconds = overhead_seconds(region, cost) +
                 busy_seconds(cost, cost.operators > 1 ? profile_.fused_overlap : profile_.overlap);
  return cost;
}

void CostModel::count_work(NodeId id, KernelCost& cost) const {
  const OpWork work = op_work(graph_, graph_.node(id), workload_.symbols());
  cost.cube_ops += batch_factor_ * work.cube_ops;
  cost.vector_ops += batch_factor_ * work.vector_ops;
  cost.cube_seconds += batch_factor_ * work.cube_ops / (profile_.cube_rate(work.cube_dtype) * profile_.cube_efficiency);
}

int64_t CostModel::icache_limit() const noexcept {
  return profile_.icache_operators > 0 ? profile_.icache_operators : std::numeric_limits<int64_t>::max();
}

bool CostModel::splits_columns() const noexcept { return workload_.rows() < profile_.cores * kRowBlock; }

/// All cores work on tiles of one weight panel, so the weights stream by once per tile height of all of them.
int64_t CostModel::weight_passes(const RegionView& region, const KernelCost& cost) const {
  if (!profile_.row_tiled || cost.operators < 2 || cost.weight_bytes == 0 || splits_columns()) return 1;
  const int64_t rows_per_pass = std::max<int64_t>(1, capacity(region.nodes()).tile_rows) * profile_.cores;
  return (workload_.rows() + rows_per_pass - 1) / rows_per_pass;
}

double CostModel::memory_seconds(const RegionView& region, const KernelCost& cost) const {
  const double memory = profile_.memory_bandwidth * profile_.memory_efficiency;
  const auto rate = [&](double bytes) {
    return bytes <= profile_.llc_bytes && profile_.llc_bandwidth > memory ? profile_.llc_bandwidth : memory;
  };
  double seconds =
      (cost.weight_bytes + cost.state_bytes) / memory + cost.activation_bytes / rate(cost.activation_bytes);
  seconds += static_cast<double>(cost.weight_passes - 1) * cost.weight_bytes / rate(cost.weight_bytes);
  if (!profile_.cube_to_vector) seconds += crossing_bytes(region) / profile_.llc_bandwidth;
  return seconds;
}

double CostModel::overhead_seconds(const RegionView& region, const KernelCost& cost) const {
  const int64_t waits = splits_columns() ? product_depth(region) : 1;
  return profile_.launch + profile_.barrier * static_cast<double>(waits) +
         profile_.round_trip * static_cast<double>(cost.round_trips);
}

GraphCost CostModel::graph(std::span<const std::vector<NodeId>> regions) const {
  std::vector<const std::vector<NodeId>*> region_of(graph_.nodes().size());
  for (const auto& region : regions)
    for (NodeId id : region) {
      ATB_CHECK(region_of.at(static_cast<size_t>(id)) == nullptr);
      region_of[static_cast<size_t>(id)] = &region;
    }
  GraphCost result;
  std::set<const void*> done;
  for (NodeId id = 0; static_cast<size_t>(id) < region_of.size(); ++id) {
    const auto* region = region_of[static_cast<size_t>(id)];
    if (region != nullptr ? !done.insert(region).second : !is_operator(id)) continue;
    result.kernels.push_back(region != nullptr ? kernel(*region) : kernel({&id, 1}));
    add_to(result.total, result.kernels.back());
  }
  result.total.seconds += profile_.step;
  return result;
}

KernelCost kernel_cost(const Graph& graph, std::span<const NodeId> nodes, const Workload& workload,
                       const DeviceProfile& profile) {
  return CostModel(graph, workload, profile).kernel(nodes);
}

Capacity region_capacity(const Graph& graph, std::span<const NodeId> nodes, const Workload& workload,
                         const DeviceProfile& profile) {
  return CostModel(graph, workload, profile).capacity(nodes);
}

}  // namespace atb

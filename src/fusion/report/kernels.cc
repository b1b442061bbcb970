#include "fusion/report/kernels.h"

#include <algorithm>
#include <set>

namespace atb {
namespace {

constexpr size_t kNoKernel = ~size_t{0};

class KernelGraph {
 public:
  explicit KernelGraph(const Graph& graph) : graph_(graph), kernel_of_(graph.nodes().size(), kNoKernel) {}

  /// A region's nodes are given whole, views included; `operators` are those that are shown.
  void add(const ExplainedRegion* region, const std::vector<NodeId>& nodes, std::vector<NodeId> operators) {
    for (const NodeId id : nodes) kernel_of_[static_cast<size_t>(id)] = kernels_.size();
    kernels_.push_back({region, std::move(operators), {}});
  }

  std::vector<Kernel> finish() {
    for (size_t i = 0; i < kernels_.size(); ++i) kernels_[i].sources = sources_of(i);
    return sorted();
  }

 private:
  std::vector<size_t> sources_of(size_t kernel) const {
    std::set<size_t> sources;
    for (const NodeId id : kernels_[kernel].operators)
      for (const ValueId input : graph_.node(id).inputs) note_source(input, sources);
    sources.erase(kernel);
    return {sources.begin(), sources.end()};
  }

  /// A node in no kernel is a view here: what it looks at counts.
  void note_source(ValueId value, std::set<size_t>& sources) const {
    const NodeId producer = graph_.value(value).producer;
    if (producer == kNoNode) return;
    const size_t kernel = kernel_of_[static_cast<size_t>(producer)];
    if (kernel != kNoKernel) {
      sources.insert(kernel);
    } else if (op_info(graph_.node(producer).op).kind == OpKind::kView) {
      note_source(graph_.node(producer).inputs[0], sources);
    }
  }

  /// Regions are convex, so kernels can be put in an order in which each stands behind what it reads.
  std::vector<Kernel> sorted() {
    std::vector<size_t> place(kernels_.size(), kNoKernel);
    std::vector<Kernel> order;
    for (size_t i = 0; i < kernels_.size(); ++i) visit(i, place, order);
    for (Kernel& kernel : order) {
      for (size_t& source : kernel.sources) source = place[source];
      std::sort(kernel.sources.begin(), kernel.sources.end());
    }
    return order;
  }

  /// Depth first with a stack of its own: a chain of kernels may be long.
  void visit(size_t start, std::vector<size_t>& place, std::vector<Kernel>& order) const {
    std::vector<std::pair<size_t, size_t>> stack = {{start, 0}};
    while (!stack.empty()) {
      const size_t kernel = stack.back().first;
      const std::vector<size_t>& sources = kernels_[kernel].sources;
      if (place[kernel] != kNoKernel) {
        stack.pop_back();
      } else if (stack.back().second < sources.size()) {
        stack.emplace_back(sources[stack.back().second++], 0);
      } else {
        place[kernel] = order.size();
        order.push_back(kernels_[kernel]);
      }
    }
  }

  const Graph& graph_;
  std::vector<size_t> kernel_of_;
  std::vector<Kernel> kernels_;
};

bool wanted(const ExplainedLayer& one, const ExplainedLayer* layer) { return layer == nullptr || layer == &one; }

}  // namespace

std::vector<const ExplainedRegion*> regions_by_node(const Explanation& explanation) {
  std::vector<const ExplainedRegion*> regions(explanation.graph.nodes().size());
  for (const ExplainedLayer& layer : explanation.layers)
    for (const ExplainedRegion& region : layer.regions)
      for (const NodeId id : region.region.nodes) regions[static_cast<size_t>(id)] = &region;
  return regions;
}

std::vector<Kernel> unfused_kernels(const Explanation& explanation, const ExplainedLayer* layer) {
  KernelGraph kernels(explanation.graph);
  for (const ExplainedLayer& one : explanation.layers) {
    if (!wanted(one, layer)) continue;
    for (const NodeId id : one.operators) kernels.add(nullptr, {id}, {id});
  }
  return kernels.finish();
}

std::vector<Kernel> fused_kernels(const Explanation& explanation, const ExplainedLayer* layer) {
  KernelGraph kernels(explanation.graph);
  std::vector<bool> is_operator(explanation.graph.nodes().size());
  for (const ExplainedLayer& one : explanation.layers)
    for (const NodeId id : one.operators) is_operator[static_cast<size_t>(id)] = true;
  const std::vector<const ExplainedRegion*> region_of = regions_by_node(explanation);
  for (const ExplainedLayer& one : explanation.layers) {
    if (!wanted(one, layer)) continue;
    for (const ExplainedRegion& region : one.regions) {
      std::vector<NodeId> operators = region.region.nodes;
      std::erase_if(operators, [&](NodeId id) { return !is_operator[static_cast<size_t>(id)]; });
      kernels.add(&region, region.region.nodes, std::move(operators));
    }
    for (const NodeId id : one.operators)
      if (region_of[static_cast<size_t>(id)] == nullptr) kernels.add(nullptr, {id}, {id});
  }
  return kernels.finish();
}

}  // namespace atb

#include "fusion/fuse.h"
#include "fusion/recognise/recogniser.h"

namespace atb {
namespace recognising {
namespace {

constexpr Recogniser kRecognisers[] = {
#define ATB_RECOGNISER(name, equation) {#name, equation, name},
#include "fusion/recognise/recognise.inc"
#undef ATB_RECOGNISER
};

// One pass over all nodes, new ones included. Whether anything fired.
bool sweep(Editor& g, std::span<const Recogniser> recognisers, std::map<std::string, int>& counts) {
  bool changed = false;
  g.near_misses.clear();
  for (ValueId id = 0; id < g.end(); ++id) {
    for (const Recogniser& r : recognisers) {
      if (!g.producer(id) || !g.is_live(id)) break;
      g.recogniser = r.name;
      if (!r.fn(g, id)) continue;
      ++counts[r.name];
      changed = true;
    }
  }
  return changed;
}

}  // namespace

std::span<const Recogniser> recognisers() { return kRecognisers; }

Recognition recognise_with(const Graph& graph, std::span<const Recogniser> recognisers) {
  Recognition found;
  Editor g(graph);
  while (sweep(g, recognisers, found.counts)) {
  }
  found.near_misses = std::move(g.near_misses);  // of the last sweep, which changed nothing
  auto [result, sources] = g.finish();
  found.graph = std::move(result);
  found.sources = std::move(sources);
  return found;
}

}  // namespace recognising

Recognition recognise_explained(const Graph& graph) {
  return recognising::recognise_with(graph, recognising::recognisers());
}

Graph recognise(const Graph& graph) { return recognise_explained(graph).graph; }

}  // namespace atb

// atb.explain for Python: the JSON object as text.
#include <atb/explain.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace {

// With a graph, `path` is only its name.
std::string explain(const std::string& path, const std::optional<std::string>& graph, const std::string& device,
                    int64_t tokens, int64_t batch, int64_t past, std::optional<int64_t> layer) {
  const nb::gil_scoped_release release;
  const atb::ExplainRequest request = {
      .device = device, .tokens = tokens, .batch = batch, .past = past, .layer = layer, .options = {}};
  return atb::explain_json(graph ? atb::explain(atb::Graph::parse(*graph), path, request)
                                 : atb::explain_file(path, request));
}

}  // namespace

void bind_explain(nb::module_& m) {
  m.def("explain_json", &explain, "path"_a, "graph"_a.none(), "device"_a, "tokens"_a, "batch"_a, "past"_a,
        "layer"_a.none());
}

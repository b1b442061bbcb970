// Stage 1: one recogniser per concept, listed in recognise.inc, run over the graph until none of them fires. Each
// rewrites one site; none relies on another having run before it, so their order does not matter.
#pragma once

#include <span>

#include "fusion/recognise/editor.h"
#include "fusion/recognition.h"

namespace atb::recognising {

/// Rewrites the site whose result is `root` and returns true, or leaves the graph as it is and returns false.
using RecogniseFn = bool (*)(Editor& g, ValueId root);

struct Recogniser {
  const char* name;
  const char* equation;  ///< "what it finds -> what it writes"
  RecogniseFn fn;
};
std::span<const Recogniser> recognisers();

/// With these recognisers in this order.
Recognition recognise_with(const Graph& graph, std::span<const Recogniser> recognisers);

#define ATB_RECOGNISER(name, equation) bool name(Editor& g, ValueId root);
#include "fusion/recognise/recognise.inc"
#undef ATB_RECOGNISER

}  // namespace atb::recognising

// What a region is called: by the articles' names where they have one, else by its parts.
#pragma once

#include <span>
#include <string>

#include "fusion/facts.h"

namespace atb {

/// "FusedFFN", "AddLayerNorm", "RmsNorm+MatMul*3".
std::string region_name(const Facts& facts, std::span<const NodeId> nodes);

/// The region in the words of the log: "RMSNorm + GatedDense + SiLU + Dense + Residual".
std::string region_words(const Facts& facts, std::span<const NodeId> nodes);

}  // namespace atb

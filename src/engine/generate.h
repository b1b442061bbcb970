// One generation on a sequence.
#pragma once

#include "engine/sequence.h"

namespace atb {

/// As Model::generate: continues `prompt`, of which what `sequence` already begins with is not computed again.
GenerateResult generate(Model::Impl& model, Sequence& sequence, std::vector<TokenId> prompt,
                        const GenerateOptions& options, const TextCallback& on_text);

}  // namespace atb

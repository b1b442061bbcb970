// What holds for single values, whatever computes them.
#pragma once

#include <atb/graph.h>

namespace atb {

/// "%x f32[tokens, 576]", for messages.
std::string describe(const Value& value);

/// Error{kModel} if dtype and shape do not go together: negative sizes, block formats outside params or with a last
/// size that is no multiple of the block, constants that are no numbers.
void check_tensor(const Value& value);

}  // namespace atb

#include <iterator>

#include "fusion/fuse.h"

namespace atb {
namespace {

struct Combination {
  bool (*found)(const LayerArguments&);
  bool warning;
  const char* text;
};

// fuse_qkv with fuse_softmax, and flash attention with or without head skipping, have nothing to be said about.
constexpr Combination kCombinations[] = {
    {[](const LayerArguments& a) { return a.fuse_layernorm && a.fuse_residual; }, false,
     "fuse_layernorm and fuse_residual are merged: the whole FFN is one region"},
    {[](const LayerArguments& a) { return a.fuse_qkv && !a.fuse_softmax; }, true,
     "fuse_qkv without fuse_softmax: Q, K and V are fused but softmax is not, about half the gain is lost"},
};

}  // namespace

std::vector<ArgumentNote> argument_notes(const LayerArguments& arguments) {
  std::vector<ArgumentNote> notes;
  for (const Combination& row : kCombinations)
    if (row.found(arguments)) notes.push_back({row.warning, row.text});
  return notes;
}

}  // namespace atb

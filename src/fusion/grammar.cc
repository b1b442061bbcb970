#include "fusion/grammar.h"

#include <algorithm>
#include <array>

namespace atb {
namespace {

// How far a region has come at a node; a node goes on from the farthest of its inputs inside the region.
enum Phase : uint8_t {
  kStart,
  kGather,
  kPrologue,
  kGroup1,
  kEpilogue1,
  kNormed1,
  kAttention,
  kGroup2,
  kEpilogue2,
  kNo
};
constexpr size_t kPhases = kNo;

enum Class : uint8_t { kProduct, kScore, kWeigh, kNormClass, kPointwiseClass, kLookup, kLook, kOther };

// The phase of a node by its class and the phase it goes on from. kNormed1 is an epilogue that ends in a norm, of heads
// before attention or of rows before a residual: no second product takes its result.
constexpr Phase kNext[][kPhases] = {
    // from start, gather,  prologue,   group 1,    epilogue 1, normed 1,   attention,  group 2,    epilogue 2
    {kGroup1, kNo, kGroup1, kGroup2, kGroup2, kNo, kGroup2, kNo, kNo},                           // product
    {kAttention, kNo, kAttention, kAttention, kAttention, kAttention, kNo, kNo, kNo},            // scores
    {kAttention, kNo, kAttention, kAttention, kAttention, kAttention, kAttention, kNo, kNo},     // softmax, values
    {kPrologue, kGather, kPrologue, kNormed1, kNormed1, kNormed1, kNo, kEpilogue2, kEpilogue2},  // norm
    {kPrologue, kGather, kPrologue, kEpilogue1, kEpilogue1, kNormed1, kAttention, kEpilogue2, kEpilogue2},  // pointwise
    {kGather, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo},                                                      // embedding
    {kPrologue, kGather, kPrologue, kGroup1, kEpilogue1, kNormed1, kAttention, kGroup2, kEpilogue2},        // view
    {kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo, kNo},                                                          // other
};

Class class_of(Op op) {
  switch (op) {
    case Op::kMatMul:
      return kProduct;
    case Op::kScores:
      return kScore;
    case Op::kSoftmax:
    case Op::kValues:
      return kWeigh;
    case Op::kLayerNorm:
    case Op::kRmsNorm:
      return kNormClass;
    case Op::kEmbedding:
      return kLookup;
    case Op::kKvAppend:
      return kPointwiseClass;
    default:
      break;
  }
  const OpKind kind = op_info(op).kind;
  if (kind == OpKind::kView) return kLook;
  return kind == OpKind::kPointwise || kind == OpKind::kRowwise ? kPointwiseClass : kOther;
}

}  // namespace

bool grammar_accepts(const LocalGraph& graph, Mask region) {
  std::array<Phase, kMaxWindow> phases;
  ValueId group_input[] = {kNoValue, kNoValue};
  for (const int i : bits(region)) {
    Phase from = kStart;
    for (const int input : bits(graph.at(i).inputs & region)) from = std::max(from, phases[static_cast<size_t>(input)]);
    const Class kind = class_of(graph.node(i).op);
    const Phase phase = kNext[kind][from];
    if (phase == kNo) return false;
    phases[static_cast<size_t>(i)] = phase;
    if (kind != kProduct) continue;
    ValueId& shared = group_input[phase == kGroup1 ? 0 : 1];
    if (shared != kNoValue && shared != graph.node(i).inputs[0]) return false;
    shared = graph.node(i).inputs[0];
  }
  return true;
}

}  // namespace atb

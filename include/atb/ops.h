// The operators of the graph and their attributes. One line in ops.inc per operator; one struct here per set of
// attributes. `fields` names every attribute once: printing, parsing, comparing and hashing all go through it.
//
// Layout convention of the semantic operators: activations are [..., rows, features]; heads lie side by side in the
// features ([..., T, heads*head_dim]), so no operator below needs a transpose in front of it.
#pragma once

#include <atb/dtype.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace atb {

enum class Op : uint8_t {
#define ATB_OP(id, name, attrs, min_inputs, max_inputs, kind) k##id,
#include <atb/ops.inc>
#undef ATB_OP
};

/// What an operator is for the planner. Views move no data and are never counted as operators.
enum class OpKind : uint8_t {
  kContract,   ///< matrix unit: matmul, scores, values
  kRowwise,    ///< needs a whole row: norms, softmax
  kPointwise,  ///< element by element, with broadcasting
  kGather,     ///< embedding
  kState,      ///< reads or writes the KV cache
  kView,       ///< reshape, transpose, slice, expand
  kData,       ///< moves data: concat, split
  kReduce      ///< reduces one axis
};

/// Facts of one operator, from ops.inc.
struct OpInfo {
  Op op;
  const char* name;            ///< as printed: "rms_norm"
  int min_inputs, max_inputs;  ///< max_inputs < 0: any number
  OpKind kind;
};
const OpInfo& op_info(Op op) noexcept;
const OpInfo* find_op(std::string_view name) noexcept;
int op_count() noexcept;

enum class ActivationKind : uint8_t { kGelu, kGeluTanh, kGeluQuick, kSilu, kRelu, kSigmoid, kTanh };
enum class WeightLayout : uint8_t { kOutIn, kInOut };  ///< torch Linear [out, in]; GPT-2's Conv1D [in, out]
enum class RopePairing : uint8_t { kHalf, kInterleaved };
enum class RopeScaling : uint8_t { kNone, kLinear, kLlama3, kYarn };
enum class MaskKind : uint8_t { kNone, kBool, kAdditive };
enum class ReduceKind : uint8_t { kSum, kMean, kMax };
enum class UnaryKind : uint8_t { kNeg, kSqrt, kRsqrt, kExp, kErf, kSquare, kReciprocal };
enum class BinaryKind : uint8_t { kSub, kDiv, kMax, kMin, kPow };

struct NoAttrs {
  template <class V>
  void fields(V&&) {}
};
/// y = x · Wᵀ (kOutIn, W [N, K]) or x · W (kInOut, W [K, N]). x [..., M, K]; W a matrix, or with the leading dims of x.
/// x is floating; W floating, or a block format in kOutIn (blocks run along K). Accumulates in fp32; the result has the
/// dtype of x.
struct MatMulAttrs {
  WeightLayout layout = WeightLayout::kOutIn;
  template <class V>
  void fields(V&& v) {
    v("layout", layout);
  }
};
/// y = (x - mean) / sqrt(var + eps) * w [+ b] over the last axis; statistics in fp32 (Ba et al. 2016).
struct LayerNormAttrs {
  float eps = 1e-5f;
  template <class V>
  void fields(V&& v) {
    v("eps", eps);
  }
};
/// y = x / sqrt(mean(x²) + eps) * w over the last axis (Zhang & Sennrich 2019). one_plus_weight: times (1 + w), added
/// in fp32 (Gemma). round_before_weight: the normalised row is rounded to the dtype of x before the weight (Hugging
/// Face). Weights of both norms have the size of the last axis or 1 there, and 1 elsewhere: a norm never grows x.
struct RmsNormAttrs {
  float eps = 1e-6f;
  bool one_plus_weight = false;
  bool round_before_weight = false;
  template <class V>
  void fields(V&& v) {
    v("eps", eps);
    v("one_plus_weight", one_plus_weight);
    v("round_before_weight", round_before_weight);
  }
};
struct ActivationAttrs {
  ActivationKind kind = ActivationKind::kGelu;
  template <class V>
  void fields(V&& v) {
    v("kind", kind);
  }
};
/// Rotary position embedding (Su et al. 2021) of x [..., T, heads*head_dim] at positions [..., T]; the first rotary_dim
/// components of each head turn, the rest pass. Scaling follows the Hugging Face config semantics (linear, llama3,
/// YaRN). Optional third input: divisors of the frequencies [rotary_dim/2] (the rope_freqs tensor of GGUF files).
/// tables: the inputs are x, cos and sin instead, both tables [..., T, rotary_dim] (or with leading dimensions to
/// broadcast) and one number per component; theta and the scaling are not read:
/// y[c] = x[c] * cos[c] + turned(x)[c] * sin[c], where turned takes a pair (a, b) to (-b, a).
struct RopeAttrs {
  int64_t head_dim = 0;
  int64_t rotary_dim = 0;
  RopePairing pairing = RopePairing::kHalf;
  double theta = 10000.0;
  RopeScaling scaling = RopeScaling::kNone;
  double factor = 1.0;
  double low_freq_factor = 1.0, high_freq_factor = 4.0;  // llama3
  double beta_fast = 32.0, beta_slow = 1.0;              // YaRN
  double attention_factor = 0.0;  // on cos and sin: 0 = from the scaling (YaRN only), else used as it is, once
  int64_t original_context = 0;
  bool tables = false;
  template <class V>
  void fields(V&& v) {
    v("head_dim", head_dim);
    v("rotary_dim", rotary_dim);
    v("pairing", pairing);
    v("theta", theta);
    v("scaling", scaling);
    v("factor", factor);
    v("low_freq_factor", low_freq_factor);
    v("high_freq_factor", high_freq_factor);
    v("beta_fast", beta_fast);
    v("beta_slow", beta_slow);
    v("attention_factor", attention_factor);
    v("original_context", original_context);
    v("tables", tables);
  }
};
/// s[h, i, j] = scale * q[i, h] · k[j, h / (heads/kv_heads)], then softcap c > 0: c*tanh(s/c), then masked. q [..., Tq,
/// heads*head_dim], k [..., Tk, kv_heads*head_dim] -> [..., heads, Tq, Tk] in the dtype of q. Query i stands at key
/// position i + Tk - Tq (bottom-right). causal: no later keys; window W > 0 (with causal only): the last W keys, the
/// current one included. Masked scores are -inf, whatever q and k hold there; so is an additive mask value that is the
/// lowest finite one of its dtype or less (frameworks write "masked" both ways, and both give the same result here).
struct ScoresAttrs {
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  float scale = 1.0f;
  bool causal = false;
  int64_t window = 0;
  float softcap = 0.0f;
  bool alibi = false;               ///< adds slope[h] * (j - position of i), slopes of Press et al. 2022
  MaskKind mask = MaskKind::kNone;  ///< third input, broadcast to the result; bool: true = attend
  template <class V>
  void fields(V&& v) {
    v("heads", heads);
    v("kv_heads", kv_heads);
    v("head_dim", head_dim);
    v("scale", scale);
    v("causal", causal);
    v("window", window);
    v("softcap", softcap);
    v("alibi", alibi);
    v("mask", mask);
  }
};
/// o[i, h] = sum_j p[h, i, j] v[j, h / (heads/kv_heads)]: p [..., heads, Tq, Tk], v [..., Tk, kv_heads*head_dim] ->
/// [..., Tq, heads*head_dim] in the dtype of p. Where p is 0, v is not looked at.
struct ValuesAttrs {
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  template <class V>
  void fields(V&& v) {
    v("heads", heads);
    v("kv_heads", kv_heads);
    v("head_dim", head_dim);
  }
};
/// y = s * round(x / s), s = max |x| / 127 over each group of elements along the last axis (0: the whole row), half to
/// even: what int8 activations stand for. A group of zeros stays zeros.
struct QuantizeAttrs {
  int64_t group = 32;
  template <class V>
  void fields(V&& v) {
    v("group", group);
  }
};
struct UnaryAttrs {
  UnaryKind kind = UnaryKind::kNeg;
  template <class V>
  void fields(V&& v) {
    v("kind", kind);
  }
};
struct BinaryAttrs {
  BinaryKind kind = BinaryKind::kSub;
  template <class V>
  void fields(V&& v) {
    v("kind", kind);
  }
};
struct CastAttrs {
  DType dtype = DType::kF32;  ///< a plain number; an explicit cast is a rounding point and is never dropped
  template <class V>
  void fields(V&& v) {
    v("dtype", dtype);
  }
};
struct ReduceAttrs {
  ReduceKind kind = ReduceKind::kMean;
  int64_t axis = -1;  ///< negative counts from the end; the reduced dimension stays as 1
  template <class V>
  void fields(V&& v) {
    v("kind", kind);
    v("axis", axis);
  }
};
/// The new shape; -1 takes over the dimension of the input at the same place, so symbols survive.
struct ReshapeAttrs {
  std::vector<int64_t> shape;
  template <class V>
  void fields(V&& v) {
    v("shape", shape);
  }
};
struct TransposeAttrs {
  std::vector<int64_t> permutation;
  template <class V>
  void fields(V&& v) {
    v("permutation", permutation);
  }
};
/// Elements start, start+step, ... below end along one axis. The axis must be a number, not a symbol.
struct SliceAttrs {
  int64_t axis = 0, start = 0, end = 0, step = 1;
  template <class V>
  void fields(V&& v) {
    v("axis", axis);
    v("start", start);
    v("end", end);
    v("step", step);
  }
};
struct ConcatAttrs {
  int64_t axis = 0;
  template <class V>
  void fields(V&& v) {
    v("axis", axis);
  }
};
/// Repeats each slice of an axis `times` times in place (torch.repeat_interleave; repeat_kv).
struct RepeatAttrs {
  int64_t axis = 0, times = 1;
  template <class V>
  void fields(V&& v) {
    v("axis", axis);
    v("times", times);
  }
};

using Attrs = std::variant<NoAttrs, MatMulAttrs, LayerNormAttrs, RmsNormAttrs, ActivationAttrs, RopeAttrs, ScoresAttrs,
                           ValuesAttrs, UnaryAttrs, BinaryAttrs, CastAttrs, ReduceAttrs, ReshapeAttrs, TransposeAttrs,
                           SliceAttrs, ConcatAttrs, RepeatAttrs, QuantizeAttrs>;

bool operator==(const Attrs& a, const Attrs& b);
size_t hash_of(const Attrs& attrs);
/// The attributes of that operator, all at their defaults.
Attrs default_attrs(Op op);

}  // namespace atb

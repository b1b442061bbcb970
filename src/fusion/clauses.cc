#include "fusion/clauses.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/value_rules.h"

namespace atb::rules {
namespace {

using Verdict = std::optional<Refusal>;

Verdict unless(bool holds, NodeId node, const std::string& detail) {
  return holds ? std::nullopt : Verdict({node, detail});
}

int64_t last_size(const Value& value) {
  return value.shape.empty() || !value.shape.back().is_constant() ? -1 : value.shape.back().constant();
}

// --- every site ---

Verdict check_inference(const Site& site) {
  return unless(!site.training, site.consumer, "a training pass keeps its intermediates");
}

Verdict check_no_cast(const Site& site) {
  if (!site.cast) return std::nullopt;
  const Value& result = site.facts.value(site.facts.node(*site.cast).output);
  return Refusal{*site.cast, fmt::format("the cast to {} is a rounding point", dtype_name(result.dtype))};
}

Verdict check_fp32_accumulates(const Site& site) {
  const DType dtype = site.facts.value(site.operand).dtype;
  const bool good = dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
  return unless(good, site.consumer, fmt::format("{} does not accumulate in f32", dtype_name(dtype)));
}

// --- readers ---

std::string readers(const Site& site) {
  const size_t count = site.facts.users_of(site.value).size();
  const bool output = site.facts.is_output(site.value);
  if (count == 1 && output) return "is an output of the graph";
  return fmt::format("has {} consumers{}", count, output ? " and is an output of the graph" : "");
}

/// A value and the views of it that the site looks through have no other reader.
Verdict check_single_use(const Site& site) {
  const auto once = [&](ValueId id) { return site.facts.users_of(id).size() == 1 && !site.facts.is_output(id); };
  if (!once(site.value)) return Refusal{site.producer, readers(site)};
  for (const NodeId view : site.views)
    if (!once(site.facts.node(view).output)) return Refusal{view, "the view has further consumers"};
  return std::nullopt;
}

Verdict check_only_products(const Site& site) {
  if (site.facts.is_output(site.value)) return Refusal{site.producer, readers(site)};
  for (const NodeId user : site.facts.users_of(site.value)) {
    const Node& node = site.facts.node(user);
    const bool product = node.op == Op::kMatMul && node.inputs[0] == site.value && node.inputs[1] != site.value;
    if (!product && !is_residual_add(site.facts, node))
      return Refusal{site.producer, fmt::format("{}, one of them {}", readers(site), op_info(node.op).name)};
  }
  return std::nullopt;
}

struct Range {
  int64_t begin, end;
};

/// Readers of a packed result: slices of the last axis that do not overlap. Unsliced, it has one reader.
Verdict check_slices(const Site& site) {
  if (site.views.empty() || site.facts.node(site.views.front()).op != Op::kSlice) return check_single_use(site);
  if (site.facts.is_output(site.value)) return Refusal{site.producer, readers(site)};
  std::vector<Range> taken;
  for (const NodeId user : site.facts.users_of(site.value)) {
    const auto* slice = std::get_if<SliceAttrs>(&site.facts.node(user).attrs);
    if (slice == nullptr) return Refusal{site.producer, readers(site) + ", not all of them slices"};
    const Range range{slice->start, slice->end};
    for (const Range& other : taken) {
      if (range.begin < other.end && other.begin < range.end)
        return Refusal{user, fmt::format("its columns {}-{} are also read elsewhere", range.begin, range.end - 1)};
    }
    taken.push_back(range);
  }
  for (const NodeId view : site.views)
    if (site.facts.users_of(site.facts.node(view).output).size() != 1 ||
        site.facts.is_output(site.facts.node(view).output))
      return Refusal{view, "the slice has further consumers"};
  return std::nullopt;
}

Verdict check_state(const Site& site) {
  const size_t count = site.facts.users_of(site.bound("state")).size();
  return unless(count == 1, site.consumer, fmt::format("the cache before the append has {} consumers", count));
}

// --- shapes and dtypes ---

Verdict check_same_shape(const Site& site) {
  const Node& node = is_norm(site.consumer_node().op) ? site.producer_node() : site.consumer_node();
  const NodeId id = site.facts.value(node.output).producer;
  for (const ValueId input : node.inputs) {
    const Value& value = site.facts.value(input);
    const Value& result = site.facts.value(node.output);
    if (value.shape != result.shape)
      return Refusal{
          id, fmt::format("%{} {} is broadcast to {}", value.name, to_string(value.shape), to_string(result.shape))};
  }
  return std::nullopt;
}

/// One element per element of the last axis, and 1 elsewhere.
bool spans_row(const Value& weight, const Value& x) {
  if (weight.shape.empty() || weight.shape.back() != x.shape.back()) return false;
  return std::all_of(weight.shape.begin(), weight.shape.end() - 1, [](const Dim& dim) { return dim == Dim(1); });
}

Verdict check_row(const Site& site, std::string_view name, NodeId node) {
  const ValueId id = site.bound(name);
  if (id == kNoValue) return std::nullopt;
  const Value& value = site.facts.value(id);
  const Value& row = site.facts.value(site.facts.node(node).output);
  return unless(spans_row(value, row), node,
                fmt::format("{} {} is not one row of {}", name, to_string(value.shape), to_string(row.shape)));
}

NodeId norm_of(const Site& site) { return is_norm(site.consumer_node().op) ? site.consumer : site.producer; }

Verdict check_bias(const Site& site) {
  const bool in_consumer = site.consumer_node().op == Op::kAdd;
  return check_row(site, "bias", in_consumer ? site.consumer : site.producer);
}

Verdict check_gamma_row(const Site& site) {
  const NodeId norm = norm_of(site);
  if (Verdict refusal = check_row(site, "gamma", norm)) return refusal;
  return check_row(site, "beta", norm);
}

Verdict check_gamma_dtype(const Site& site) {
  const NodeId norm = norm_of(site);
  const DType x = site.facts.value(site.facts.node(norm).inputs[0]).dtype;
  for (const char* name : {"gamma", "beta"}) {
    const ValueId id = site.bound(name);
    if (id == kNoValue) continue;
    const DType dtype = site.facts.value(id).dtype;
    if (dtype != DType::kF32 && dtype != x)
      return Refusal{norm, fmt::format("{} is {}, x is {}", name, dtype_name(dtype), dtype_name(x))};
  }
  return std::nullopt;
}

Verdict check_plain_matrix(const Site& site) {
  const bool in_consumer = site.consumer_node().op == Op::kMatMul;
  const NodeId id = in_consumer ? site.consumer : site.producer;
  const ValueId w = site.facts.node(id).inputs[1];
  if (!site.facts.is_weight(w)) return Refusal{id, "the weight is computed from activations"};
  const size_t rank = site.facts.value(w).shape.size();
  return unless(rank == 2, id, fmt::format("the weight has {} dimensions, expected 2", rank));
}

Verdict check_head_layout(const Site& site) {
  const auto& v = std::get<ValuesAttrs>(site.consumer_node().attrs);
  ValueId at = site.value;
  while (const Node* producer = site.facts.producer(at)) {
    if (const auto* s = std::get_if<ScoresAttrs>(&producer->attrs)) {
      const bool same = s->heads == v.heads && s->kv_heads == v.kv_heads && s->head_dim == v.head_dim;
      return unless(same, site.consumer,
                    fmt::format("values have {}/{} heads of {}, the scores {}/{} of {}", v.heads, v.kv_heads,
                                v.head_dim, s->heads, s->kv_heads, s->head_dim));
    }
    at = producer->inputs[0];
  }
  return std::nullopt;
}

const ScoresAttrs& scores_attrs(const Node& node) { return std::get<ScoresAttrs>(node.attrs); }

Verdict check_rope_heads(const Site& site) {
  const auto* rope = std::get_if<RopeAttrs>(&site.producer_node().attrs);
  if (rope == nullptr) return std::nullopt;
  const int64_t head_dim = scores_attrs(site.consumer_node()).head_dim;
  return unless(rope->head_dim == head_dim, site.producer,
                fmt::format("rotates heads of {}, the scores have heads of {}", rope->head_dim, head_dim));
}

/// The rope that a value went through last, before its projection.
const Node* rope_behind(const Facts& facts, ValueId at) {
  while (const Node* producer = facts.producer(at)) {
    if (producer->op == Op::kRope) return producer;
    if (producer->op == Op::kMatMul) return nullptr;
    at = producer->op == Op::kKvAppend ? producer->inputs[1] : producer->inputs[0];
  }
  return nullptr;
}

Verdict check_same_rotation(const Site& site) {
  const Node& scores = site.consumer_node();
  const Node *q = rope_behind(site.facts, scores.inputs[0]), *k = rope_behind(site.facts, scores.inputs[1]);
  if (q == nullptr || k == nullptr) return std::nullopt;
  return unless(q->attrs == k->attrs, site.consumer, "q and k are rotated differently");
}

Verdict check_swap(const Site& site) {
  const auto& permutation = std::get<TransposeAttrs>(site.producer_node().attrs).permutation;
  return unless(permutation == std::vector<int64_t>{1, 0}, site.producer,
                fmt::format("the permutation [{}] is not the matrix transpose", fmt::join(permutation, ", ")));
}

// --- order and meaning ---

Verdict check_bias_order(const Site& site) {
  return unless(site.producer_node().op != Op::kAdd, site.consumer, "the bias is added behind the residual");
}

/// Whether a factor of gate * up passed an activation.
bool is_activated(const Facts& facts, ValueId value) {
  const Node* producer = facts.producer(value);
  while (producer != nullptr && is_view(*producer)) producer = facts.producer(producer->inputs[0]);
  return producer != nullptr && producer->op == Op::kActivation;
}

Verdict check_one_activated(const Site& site) {
  const std::vector<ValueId>& in = site.consumer_node().inputs;
  const int count = int{is_activated(site.facts, in[0])} + int{is_activated(site.facts, in[1])};
  return unless(count == 1, site.consumer, fmt::format("{} of its factors are activated, expected 1", count));
}

Verdict check_gate_function(const Site& site) {
  const Node& act = site.producer_node().op == Op::kActivation ? site.producer_node() : site.consumer_node();
  const bool tanh = std::get<ActivationAttrs>(act.attrs).kind == ActivationKind::kTanh;
  return unless(!tanh, site.facts.value(act.output).producer, "tanh is no gate: it may be a soft-cap");
}

Verdict check_gamma_raw(const Site& site) {
  const auto* attrs = std::get_if<RmsNormAttrs>(&site.facts.node(norm_of(site)).attrs);
  const ValueId gamma = site.bound("gamma");
  if (attrs == nullptr || !attrs->one_plus_weight || gamma == kNoValue) return std::nullopt;
  const Node* producer = site.facts.producer(gamma);
  return unless(producer == nullptr || producer->op != Op::kAdd, norm_of(site), "1 is added to the weight twice");
}

/// The first node of one of `ops` that a value comes to without passing another product.
void collect(const Facts& facts, ValueId value, std::span<const Op> ops, std::set<NodeId>& found) {
  for (const NodeId user : facts.users_of(value)) {
    const Node& node = facts.node(user);
    if (std::find(ops.begin(), ops.end(), node.op) != ops.end()) {
      found.insert(user);
    } else if (node.op != Op::kMatMul && !is_residual_add(facts, node) && node.op != Op::kValues) {
      collect(facts, node.output, ops, found);
    }
  }
}

std::set<NodeId> reached(const Facts& facts, NodeId from, std::initializer_list<Op> ops) {
  std::set<NodeId> found;
  collect(facts, facts.node(from).output, {ops.begin(), ops.size()}, found);
  return found;
}

/// The norm before a rotation or the scores has the width of their heads.
Verdict check_qk_norm(const Site& site) {
  const NodeId norm = norm_of(site);
  const int64_t width = last_size(site.facts.value(site.facts.node(norm).output));
  for (const NodeId id : reached(site.facts, norm, {Op::kRope, Op::kScores})) {
    const Attrs& attrs = site.facts.node(id).attrs;
    const auto* rope = std::get_if<RopeAttrs>(&attrs);
    const int64_t head_dim = rope != nullptr ? rope->head_dim : std::get<ScoresAttrs>(attrs).head_dim;
    if (width != head_dim)
      return Refusal{norm, fmt::format("the norm spans {} elements, a head has {}", width, head_dim)};
  }
  return std::nullopt;
}

/// The values that end the attention which a projection feeds.
std::set<NodeId> attention_of(const Facts& facts, NodeId product) { return reached(facts, product, {Op::kValues}); }

Verdict check_same_attention(const Site& site) {
  const std::set<NodeId> a = attention_of(site.facts, site.producer), b = attention_of(site.facts, site.consumer);
  return unless(a == b && a.size() == 1, site.consumer, "feeds another attention than its sibling");
}

Verdict check_same_gate(const Site& site) {
  const std::set<NodeId> a = reached(site.facts, site.producer, {Op::kMul});
  const std::set<NodeId> b = reached(site.facts, site.consumer, {Op::kMul});
  return unless(a == b && a.size() == 1, site.consumer, "does not meet its sibling in one product gate * up");
}

Verdict check_one_mask(const Site& site) {
  const bool masked = scores_attrs(site.producer_node()).mask != MaskKind::kNone;
  return unless(!masked, site.consumer, "a second mask: the sum of two lowest numbers overflows");
}

Verdict check_mask_given(const Site& site) {
  const ValueId mask = site.bound("mask");
  if (mask == kNoValue) return std::nullopt;
  const Node* producer = site.facts.producer(mask);
  const bool sum = producer != nullptr && is_residual_add(site.facts, *producer);
  return unless(!sum, site.producer, "the mask is a sum of masks, which may overflow to -inf");
}

/// Bottom-right alignment needs keys that end where the queries end: as many, or a cache with the queries at its end.
Verdict check_causal(const Site& site) {
  const Node& node = site.producer_node();
  if (!scores_attrs(node).causal) return std::nullopt;
  const Value &q = site.facts.value(node.inputs[0]), &k = site.facts.value(node.inputs[1]);
  const Dim &rows = q.shape[q.shape.size() - 2], &keys = k.shape[k.shape.size() - 2];
  const Node* append = site.facts.producer(node.inputs[1]);
  const bool cached = append != nullptr && append->op == Op::kKvAppend;
  return unless(rows == keys || cached || (rows.is_constant() && keys.is_constant()), site.producer,
                fmt::format("{} queries and {} keys have no common end", rows.to_string(), keys.to_string()));
}

Verdict check_no_rope(const Site& site) {
  return unless(rope_behind(site.facts, site.producer_node().inputs[0]) == nullptr, site.producer,
                "q is rotated and the scores have ALiBi slopes");
}

}  // namespace

const Clause inference{"inference", check_inference};
const Clause no_cast_between{"no_cast_between", check_no_cast};
const Clause fp32_accumulates{"fp32_accumulates", check_fp32_accumulates};
const Clause single_use{"single_use", check_single_use};
const Clause only_products_read{"only_products_read", check_only_products};
const Clause slices_do_not_overlap{"slices_do_not_overlap", check_slices};
const Clause state_read_once{"state_read_once", check_state};
const Clause same_shape{"same_shape", check_same_shape};
const Clause bias_of_row{"bias_of_row", check_bias};
const Clause gamma_of_row{"gamma_of_row", check_gamma_row};
const Clause gamma_dtype{"gamma_dtype", check_gamma_dtype};
const Clause plain_matrix{"plain_matrix", check_plain_matrix};
const Clause same_head_layout{"same_head_layout", check_head_layout};
const Clause rope_fits_heads{"rope_fits_heads", check_rope_heads};
const Clause same_rotation{"same_rotation", check_same_rotation};
const Clause qk_norm_of_head{"qk_norm_of_head", check_qk_norm};
const Clause swaps_matrix_axes{"swaps_matrix_axes", check_swap};
const Clause bias_before_residual{"bias_before_residual", check_bias_order};
const Clause one_activated_factor{"one_activated_factor", check_one_activated};
const Clause gate_function{"gate_function", check_gate_function};
const Clause gamma_is_raw{"gamma_is_raw", check_gamma_raw};
const Clause same_attention{"same_attention", check_same_attention};
const Clause same_gate{"same_gate", check_same_gate};
const Clause one_mask{"one_mask", check_one_mask};
const Clause mask_is_given{"mask_is_given", check_mask_given};
const Clause causal_ends_align{"causal_ends_align", check_causal};
const Clause no_rope_with_alibi{"no_rope_with_alibi", check_no_rope};

}  // namespace atb::rules

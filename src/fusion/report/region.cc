// A region as a code generator takes it: dims, values, stages, tile.
#include <fmt/format.h>

#include <algorithm>

#include "cost/cost_model.h"
#include "fusion/facts.h"
#include "fusion/report/dims.h"
#include "fusion/rule.h"
#include "ir/attr_fields.h"

namespace atb {
namespace {

bool is_half(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

class Describer {
 public:
  Describer(const Explanation& explanation, const ExplainedRegion& explained)
      : e_(explanation),
        explained_(explained),
        region_(explained.region),
        facts_(explanation.graph),
        dims_(explanation.graph, region_.nodes, symbols()) {}

  RegionSpec describe() const {
    const ExplainRequest& r = e_.request;
    return {.name = region_.name,
            .layer = region_.layer,
            .numerics = loosest_numerics(),
            .rules = region_.rules,
            .dims = dims_.dims(),
            .values = values(),
            .stages = stages(),
            .tile = {{"rows", r.tokens * r.batch},
                     {"tile_rows", explained_.tile_rows},
                     {"panel_columns", e_.panel_columns},
                     {"panel_depth", e_.panel_depth},
                     {"cores", e_.cores}},
            .workspace_bytes = region_.capacity_used,
            .workspace_available_bytes = region_.capacity_available};
  }

 private:
  SymbolValues symbols() const { return Workload{e_.request.tokens, e_.request.past, e_.request.batch}.symbols(); }

  std::string loosest_numerics() const {
    Numerics loosest = Numerics::kBitExact;
    for (const std::string& name : region_.rules) loosest = std::max(loosest, rules::find_rule(name)->numerics());
    return rules::numerics_name(loosest);
  }

  bool inside(NodeId id) const {
    return id != kNoNode && std::find(region_.nodes.begin(), region_.nodes.end(), id) != region_.nodes.end();
  }
  bool has(Op op) const {
    return std::any_of(region_.nodes.begin(), region_.nodes.end(), [&](NodeId id) { return facts_.node(id).op == op; });
  }
  bool is_product(NodeId id) const { return op_info(facts_.node(id).op).kind == OpKind::kContract; }

  // Values.

  std::vector<RegionValue> values() const {
    std::vector<ValueId> ids;
    const auto note = [&](ValueId id) {
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
    };
    for (const NodeId id : region_.nodes) {
      for (const ValueId input : facts_.node(id).inputs) note(input);
      note(facts_.node(id).output);
    }
    std::vector<RegionValue> values;
    for (const ValueId id : ids) values.push_back(describe_value(id));
    return values;
  }

  RegionValue describe_value(ValueId id) const {
    const Value& value = facts_.value(id);
    const std::string role = role_of(id);
    return {value.name, dtype_name(value.dtype), dims_.names(id), role, placement_of(id, role), layout_of(id)};
  }

  std::string role_of(ValueId id) const {
    const Value& value = facts_.value(id);
    if (std::find(region_.outputs.begin(), region_.outputs.end(), id) != region_.outputs.end()) return "output";
    if (inside(value.producer)) return "interior";
    if (value.kind == ValueKind::kConstant) return "constant";
    if (value.kind == ValueKind::kState || is_append(value.producer)) return "state";
    return facts_.is_weight(id) ? "weight" : "input";
  }

  bool is_append(NodeId id) const { return id != kNoNode && facts_.node(id).op == Op::kKvAppend; }

  /// Weights of products and caches stream by in panels, two at a time; other weights are small and stay.
  std::string placement_of(ValueId id, const std::string& role) const {
    if (role == "constant") return "register";
    if (role == "interior") return "chip";
    if (role == "state") return "streamed";
    if (role != "weight") return "memory";
    const auto& users = facts_.users_of(id);
    const bool streamed = std::any_of(users.begin(), users.end(), [&](NodeId u) { return inside(u) && is_product(u); });
    return streamed ? "streamed" : "chip";
  }

  std::string layout_of(ValueId id) const {
    const Value& value = facts_.value(id);
    if (inside(value.producer) && is_view(facts_.node(value.producer)))
      return "view of %" + facts_.value(facts_.node(value.producer).inputs[0]).name;
    std::string layout = "row-major";
    const int64_t block = dtype_info(value.dtype).block_size;
    if (block > 1) layout += fmt::format(", blocks of {} along the last dim", block);
    for (const NodeId user : facts_.users_of(id)) {
      if (inside(user)) layout += used_as(facts_.node(user), id);
    }
    return layout;
  }

  /// How a reader takes the value where that is not as it stands; once is enough.
  static std::string used_as(const Node& node, ValueId id) {
    if (node.op == Op::kMatMul && node.inputs[1] == id && node.inputs[0] != id)
      return std::get<MatMulAttrs>(node.attrs).layout == WeightLayout::kOutIn ? ", used transposed" : "";
    if (node.op == Op::kScores && node.inputs[0] == id) {
      const auto& a = std::get<ScoresAttrs>(node.attrs);
      return fmt::format(", {} heads of {} side by side", a.heads, a.head_dim);
    }
    return "";
  }

  // Stages.

  std::vector<RegionStage> stages() const {
    std::vector<RegionStage> stages;
    bool before_products = true;
    for (const NodeId id : region_.nodes) {
      if (is_view(facts_.node(id)) || facts_.is_weight(facts_.node(id).output)) continue;
      before_products = before_products && !is_product(id);
      stages.push_back(describe_stage(id));
      stages.back().phase = is_product(id) ? "product" : before_products ? "prologue" : "epilogue";
    }
    return stages;
  }

  RegionStage describe_stage(NodeId id) const {
    RegionStage stage;
    stage.node = facts_.where(id);
    stage.operation = call_text(id);
    stage.parallel = dims_.along(id, AxisRole::kParallel);
    stage.reduce = dims_.along(id, AxisRole::kReduce);
    stage.contract = dims_.along(id, AxisRole::kContract);
    describe_sums(id, stage);
    stage.rounding = rounding_of(id);
    if (is_product(id)) stage.epilogue = epilogue_of(id);
    return stage;
  }

  std::string call_text(NodeId id) const {
    const Node& node = facts_.node(id);
    std::string text = "%" + facts_.value(node.output).name + " = " + op_info(node.op).name + "(";
    for (size_t i = 0; i < node.inputs.size(); ++i) text += (i > 0 ? ", %" : "%") + facts_.value(node.inputs[i]).name;
    const std::string attrs = attrs_text(node.op, node.attrs);
    return text + (attrs.empty() ? ")" : ") {" + attrs + "}");
  }

  void describe_sums(NodeId id, RegionStage& stage) const {
    const Node& node = facts_.node(id);
    if (stage.reduce.empty() && stage.contract.empty()) return;
    stage.start = "0";
    stage.accumulator = "f32";
    stage.algorithm = "two-pass: mean, then squared differences";
    if (node.op == Op::kRmsNorm) stage.algorithm = "one pass: squares, added pairwise";
    if (node.op == Op::kQuantize) stage.start = "-inf", stage.algorithm = "one pass: maximum per group";
    if (node.op == Op::kReduce) stage.algorithm = "one pass, added pairwise";
    if (node.op == Op::kSoftmax) describe_softmax(stage);
    if (node.op == Op::kMatMul) describe_matmul(node, stage);
    if (const auto* a = std::get_if<ScoresAttrs>(&node.attrs))
      stage.algorithm =
          fmt::format("over head_dim {} inside each of {} heads, {} of keys", a->head_dim, a->heads, a->kv_heads);
    if (const auto* a = std::get_if<ValuesAttrs>(&node.attrs))
      stage.algorithm = fmt::format("over the keys, {} heads of {}, {} of values", a->heads, a->head_dim, a->kv_heads);
  }

  void describe_softmax(RegionStage& stage) const {
    stage.start = "-inf (maximum), 0 (sum)";
    stage.algorithm = has(Op::kScores) && has(Op::kValues) ? "online: running maximum and sum per tile of keys"
                                                           : "two-pass: maximum, then sum of exponentials";
  }

  void describe_matmul(const Node& node, RegionStage& stage) const {
    const int64_t block = dtype_info(facts_.value(node.inputs[1]).dtype).block_size;
    if (block > 1) stage.accumulator = fmt::format("i32 per {} elements, f32 over them", block);
    stage.algorithm = fmt::format("parts of {}, added in a fixed tree", e_.panel_depth);
  }

  std::string rounding_of(NodeId id) const {
    const Node& node = facts_.node(id);
    const DType dtype = facts_.value(node.output).dtype;
    const std::string name = dtype_name(dtype);
    std::string text;
    const auto* norm = std::get_if<RmsNormAttrs>(&node.attrs);
    if (norm != nullptr && norm->round_before_weight && is_half(dtype))
      text = "explicit: the normalised row to " + name + " before the weight; ";
    if (node.op == Op::kCast) return "explicit: to " + name;
    if (const auto* grid = std::get_if<QuantizeAttrs>(&node.attrs))
      return grid->group == 0 ? "explicit: to an int8 grid per row"
                              : fmt::format("explicit: to an int8 grid per {}", grid->group);
    if (!is_half(dtype)) return text + "none";
    return text + (role_of(node.output) == "output" ? "when stored: to " + name
                                                    : "implicit: to " + name + ", may be skipped on chip");
  }

  /// What happens to a product's result up to the next product, in order.
  std::vector<std::string> epilogue_of(NodeId product) const {
    std::vector<ValueId> reached = {facts_.node(product).output};
    std::vector<std::string> names;
    for (const NodeId id : region_.nodes) {
      const Node& node = facts_.node(id);
      const bool reads = std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId in) {
        return std::find(reached.begin(), reached.end(), in) != reached.end();
      });
      if (id <= product || !reads || is_product(id)) continue;
      reached.push_back(node.output);
      if (!is_view(node)) names.push_back(std::string(op_info(node.op).name) + " " + facts_.where(id));
    }
    return names;
  }

  const Explanation& e_;
  const ExplainedRegion& explained_;
  const Region& region_;
  const Facts facts_;
  const RegionDims dims_;
};

}  // namespace

RegionSpec describe_region(const Explanation& explanation, const ExplainedRegion& region) {
  return Describer(explanation, region).describe();
}

}  // namespace atb

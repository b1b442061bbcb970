// Turns the nodes of a graph into steps. Each operator has a function in steps/<op>.cc, found through steps/steps.inc;
// it asks here for its operands and adds its steps.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/matmul/matmul.h"
#include "runtime/launches.h"
#include "runtime/plan_impl.h"
#include "runtime/round_trips.h"

namespace atb {

class Lowering {
 public:
  Lowering(Plan::Impl& plan, const TensorLookup& tensors);

  /// Lowers every node, then the output "logits".
  void run(const std::vector<Region>& regions);

  const Graph& graph() const noexcept { return plan_.graph; }
  const PlanOptions& options() const noexcept { return plan_.options; }
  Weights& weights() noexcept { return plan_.weights; }
  const Value& value(ValueId id) const { return graph().value(id); }
  [[noreturn]] void fail(std::string message, std::string hint) const;  ///< Error{kModel} at the current node

  // Operands. Params are expanded to fp32 when they are asked for as tensors.
  const TensorRef& tensor(ValueId id);
  /// A value as rows; copied first if its strides do not allow it. Not for scores.
  RowsRef rows(ValueId id);
  RowsRef rows(const TensorRef& tensor);
  /// A value as one dense row of `width` floats (norm weights: a single number is repeated).
  RowsRef vector(ValueId id, int64_t width);
  GraphInput input(ValueId id) const;                 ///< one of the inputs that a batch brings
  TensorInfo param(ValueId id) const;                 ///< the file's tensor, checked against the graph
  int state(ValueId id) const;                        ///< the state that kv_append's result stands for
  void limit_input(GraphInput which, int64_t limit);  ///< its numbers must be below

  // Results.
  TensorRef new_tensor(Extents shape);  ///< dense, or scores
  BufferId new_buffer(Extents shape, size_t unit_bytes);
  void define(ValueId id, TensorRef tensor);          ///< the node's result, or a view of another value
  int define_state(ValueId result, KvLayout layout);  ///< kv_append's result

  /// Adds a step of the current node.
  void emit(std::unique_ptr<Step> step, StepOperands operands);
  /// A result that was prepared before from the same operand, for `key` (kNoBuffer if none was).
  BufferId& prepared(const RowsRef& source, const std::string& key);

  void count_weight(const MatMulKernel& kernel, const PackedWeight& weight);  ///< for the plan's cube and precision

 private:
  void lower(NodeId id);
  void lower_logits();
  void describe_weights();
  void finish_launch(const Launch& launch, size_t first_step);
  void touch(BufferId buffer);

  Plan::Impl& plan_;
  const TensorLookup& tensors_;
  RoundTrips round_trips_;
  NodeId node_ = kNoNode;
  std::map<ValueId, TensorRef> tensors_of_;
  std::map<ValueId, int> states_of_;
  std::map<std::pair<std::string, std::string>, size_t> bytes_of_path_;  // cube and precision -> weight bytes
  std::map<std::pair<std::string, std::pair<BufferId, std::vector<int64_t>>>, BufferId> prepared_;
};

/// Lowers one node.
using LowerFn = void (*)(Lowering& lowering, const Node& node);

#define ATB_STEP(op, function) void function(Lowering& lowering, const Node& node);
#include "runtime/steps/steps.inc"
#undef ATB_STEP

/// Adds a copy of `source` into `target` (same shape); used by operators that only move data.
void emit_copy(Lowering& lowering, const TensorRef& source, const TensorRef& target);

/// A tensor that lies in one buffer as a whole, for steps that are given the buffer's start and know the strides.
RowsRef whole(const TensorRef& tensor);

}  // namespace atb

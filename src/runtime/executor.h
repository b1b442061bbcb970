// Runs a plan: one parallel region per step() over all its kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "runtime/plan.h"

namespace atb {

/// Part of a step that belongs to one sequence: its next tokens, which follow the cache's length.
struct SequenceStep {
  KvCache* cache;  ///< made of the plan's states()
  std::span<const int32_t> tokens;
  bool all_logits = false;  ///< logits of every token, not only of the last
};

/// Counters of the last step, as the executor counted them.
struct StepCounters {
  int64_t kernels = 0;      ///< launches
  int64_t round_trips = 0;  ///< activation tensors read plus written by kernels (weights not counted)
  int64_t barriers = 0;     ///< waited at; none on one thread
};

/// Owns the memory of activations, so executors of one plan may run at the same time. The plan and the pool must
/// outlive it. Not thread-safe itself.
class Executor {
 public:
  Executor(Plan& plan, ThreadPool& pool);
  ~Executor();

  /// Appends the tokens of every sequence and computes the graph's output "logits". The graph's inputs are filled by
  /// name: "tokens" i32[tokens], "positions" i32[tokens], "logit_rows" i32[outputs]; symbols: tokens, past, outputs.
  /// At most max_rows tokens in all, at least one per sequence, every token in [0, vocabulary). Returns the logits,
  /// rows in the order of the sequences, valid until the next step. Error{kUsage} or Error{kResources} before any
  /// sequence has changed.
  std::span<const float> step(std::span<const SequenceStep> sequences);

  const StepCounters& counters() const noexcept { return counters_; }

 private:
  struct Run;
  std::unique_ptr<Run> run_;
  StepCounters counters_;
};

}  // namespace atb

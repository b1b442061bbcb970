#include "runtime/executor.h"

#include <atb/error.h>

#include <algorithm>

#include "base/check.h"
#include "runtime/plan_impl.h"

namespace atb {
namespace {

/// Rows of scores start at a cache line.
constexpr int64_t kScoreAlignment = 16;

[[noreturn]] void reject(ErrorCode code, std::string message, size_t sequence, std::string hint) {
  throw Error(code, std::move(message), "sequence " + std::to_string(sequence), std::move(hint));
}

}  // namespace

/// One executor's memory, and the batch that it works on.
struct Executor::Run {
  Run(Plan& p, ThreadPool& t);
  void check(std::span<const SequenceStep> steps) const;
  void check_sequence(std::span<const SequenceStep> steps, size_t index) const;
  void check_tokens(std::span<const int32_t> tokens, size_t index) const;
  void fill(std::span<const SequenceStep> steps);
  void grow_scores();
  void work(int thread, StepCounters& counters) const noexcept;
  void run_shared(const Phase& phase, int thread) const noexcept;
  void run_tiles(const Phase& phase, int thread) const noexcept;
  StepArgs arguments(const StepOperands& operands, int thread, int64_t first_row) const noexcept;
  View view(const RowsRef& ref, int thread, int64_t first_row = 0) const noexcept;

  const Plan::Impl& plan;
  ThreadPool& pool;
  MemoryBlock shared;
  std::vector<MemoryBlock> private_memory;  // per thread
  std::vector<MemoryBlock> score_slots;
  std::vector<int32_t> tokens, positions, logit_rows;
  std::vector<SequenceRows> sequences;
  int64_t score_floats = 0;  // per head
  Batch batch;
  const Schedule* schedule = nullptr;
};

Executor::Run::Run(Plan& p, ThreadPool& t) : plan(p.impl()), pool(t), score_slots(plan.slot_heads.size()) {
  size_t shared_bytes = 0, private_bytes = 0;
  for (const Schedule& s : plan.schedules) {
    shared_bytes = std::max(shared_bytes, s.shared_bytes);
    private_bytes = std::max(private_bytes, s.private_bytes);
  }
  shared = MemoryBlock(shared_bytes, LargePages::kNo, "activations");
  for (int i = 0; i < pool.threads(); ++i)
    private_memory.emplace_back(private_bytes, LargePages::kNo, "activations of one thread");
  for (auto* list : {&tokens, &positions, &logit_rows}) list->reserve(static_cast<size_t>(plan.options.max_rows));
}

void Executor::Run::check(std::span<const SequenceStep> steps) const {
  int64_t rows = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    check_sequence(steps, i);
    rows += static_cast<int64_t>(steps[i].tokens.size());
  }
  if (steps.empty() || rows > plan.options.max_rows)
    throw Error(ErrorCode::kUsage, "a step of " + std::to_string(rows) + " tokens", "step",
                "hand in 1 to " + std::to_string(plan.options.max_rows) + " tokens in all");
}

void Executor::Run::check_sequence(std::span<const SequenceStep> steps, size_t index) const {
  const SequenceStep& s = steps[index];
  if (s.cache == nullptr || s.tokens.empty()) reject(ErrorCode::kUsage, "no cache or no tokens", index, "hand in both");
  for (size_t i = 0; i < index; ++i)
    if (steps[i].cache == s.cache)
      reject(ErrorCode::kUsage, "its cache is in the step twice", index, "use each cache once");
  const auto same = [](const StateSpec& a, const StateSpec& b) {
    return a.layout.page_bytes() == b.layout.page_bytes();
  };
  const auto& states = s.cache->states();
  if (!std::equal(states.begin(), states.end(), plan.states.begin(), plan.states.end(), same))
    reject(ErrorCode::kUsage, "its cache belongs to another plan", index, "make it of this plan's states");
  const int64_t length = s.cache->length() + static_cast<int64_t>(s.tokens.size());
  const int64_t most =
      std::min(plan.options.max_context, plan.input_limits[static_cast<size_t>(GraphInput::kPositions)]);
  if (length > most)
    reject(ErrorCode::kResources,
           "it would have " + std::to_string(length) + " tokens, the context holds " + std::to_string(most), index,
           "use a shorter prompt or a larger context");
  check_tokens(s.tokens, index);
}

void Executor::Run::check_tokens(std::span<const int32_t> ids, size_t index) const {
  const int64_t vocabulary = plan.input_limits[static_cast<size_t>(GraphInput::kTokens)];
  for (int32_t id : ids)
    if (id < 0 || id >= vocabulary)
      reject(ErrorCode::kUsage, "token " + std::to_string(id) + " is not in the vocabulary", index,
             "use 0 to " + std::to_string(vocabulary - 1));
}

void Executor::Run::fill(std::span<const SequenceStep> steps) {
  tokens.clear(), positions.clear(), logit_rows.clear(), sequences.clear();
  score_floats = 0;
  for (const SequenceStep& s : steps) {
    SequenceRows rows{s.cache,
                      static_cast<int64_t>(tokens.size()),
                      static_cast<int64_t>(s.tokens.size()),
                      s.cache->length(),
                      score_floats,
                      0};
    rows.score_stride = (rows.context() + kScoreAlignment - 1) / kScoreAlignment * kScoreAlignment;
    score_floats += rows.rows * rows.score_stride;
    for (int64_t i = 0; i < rows.rows; ++i) {
      if (s.all_logits || i == rows.rows - 1) logit_rows.push_back(static_cast<int32_t>(tokens.size()));
      tokens.push_back(s.tokens[static_cast<size_t>(i)]);
      positions.push_back(static_cast<int32_t>(rows.past + i));
    }
    sequences.push_back(rows);
  }
  batch = {.rows = static_cast<int64_t>(tokens.size()),
           .outputs = static_cast<int64_t>(logit_rows.size()),
           .inputs = {tokens.data(), positions.data(), logit_rows.data()},
           .sequences = sequences};
  schedule = &plan.schedule_for(batch.rows);
}

/// Memory for scores follows the largest batch and context that came, half as much again each time.
void Executor::Run::grow_scores() {
  for (size_t i = 0; i < score_slots.size(); ++i) {
    const size_t needed = static_cast<size_t>(plan.slot_heads[i] * score_floats) * sizeof(float);
    if (needed > score_slots[i].size()) score_slots[i] = MemoryBlock(needed + needed / 2, LargePages::kNo, "scores");
  }
}

/// Rows of the view are those of the batch, also where only a tile from `first_row` on is in memory.
View Executor::Run::view(const RowsRef& ref, int thread, int64_t first_row) const noexcept {
  const int64_t offset = ref.offset.at(batch.symbols());
  if (ref.buffer == kNoBuffer) return {const_cast<float*>(ref.fixed) + offset, ref.stride};
  const auto buffer = static_cast<size_t>(ref.buffer);
  const size_t place = schedule->offset[buffer];
  std::byte* base = shared.data() + place;
  if (plan.buffers[buffer].scores)
    base = score_slots[place].data();
  else if (schedule->is_private[buffer])
    base = private_memory[static_cast<size_t>(thread)].data() + place;
  base -= static_cast<int64_t>(schedule->slab_row[buffer]) * first_row;
  return {reinterpret_cast<float*>(base) + offset, ref.stride};
}

StepArgs Executor::Run::arguments(const StepOperands& operands, int thread, int64_t first_row) const noexcept {
  StepArgs args{.batch = batch};
  for (size_t k = 0; k < operands.inputs.size(); ++k) args.in[k] = view(operands.inputs[k], thread, first_row);
  if (operands.output.buffer != kNoBuffer) args.out = view(operands.output, thread, first_row);
  return args;
}

/// The one step of a phase: every thread a share of its tiles, or all of it.
void Executor::Run::run_shared(const Phase& phase, int thread) const noexcept {
  const auto i = static_cast<size_t>(phase.first);
  const BoundStep& bound = plan.steps[i];
  const int64_t tiles = bound.step->tiles(batch);
  const Share share = schedule->redundant[i] ? Share{0, tiles} : even_share(tiles, thread, pool.threads());
  if (share.begin < share.end) bound.step->run(arguments(bound.operands, thread, 0), share.begin, share.end);
}

/// Tiles in turn, since later rows of a sequence see more keys.
void Executor::Run::run_tiles(const Phase& phase, int thread) const noexcept {
  const int64_t height = schedule->tile_height(batch.rows, pool.threads());
  for (int64_t row = thread * height; row < batch.rows; row += pool.threads() * height) {
    const int64_t end = std::min(batch.rows, row + height);
    for (int i = phase.first; i < phase.last; ++i) {
      const BoundStep& bound = plan.steps[static_cast<size_t>(i)];
      bound.step->row_local()->run_rows(arguments(bound.operands, thread, row), row, end);
    }
  }
}

void Executor::Run::work(int thread, StepCounters& counters) const noexcept {
  for (const Phase& phase : schedule->phases) {
    if (phase.barrier_before && pool.threads() > 1) {
      pool.barrier();
      ++counters.barriers;
    }
    phase.tiled ? run_tiles(phase, thread) : run_shared(phase, thread);
    for (int i = phase.first; i < phase.last; ++i) {
      counters.kernels += plan.steps[static_cast<size_t>(i)].ends_launch;
      counters.round_trips += plan.steps[static_cast<size_t>(i)].round_trips;
    }
  }
}

Executor::Executor(Plan& plan, ThreadPool& pool) : run_(std::make_unique<Run>(plan, pool)) {}
Executor::~Executor() = default;

std::span<const float> Executor::step(std::span<const SequenceStep> sequences) {
  Run& run = *run_;
  run.check(sequences);
  for (const SequenceStep& s : sequences) s.cache->reserve(static_cast<int64_t>(s.tokens.size()));
  run.fill(sequences);
  run.grow_scores();
  StepCounters counters;
  run.pool.run([&run, &counters](int thread) {
    StepCounters own;
    run.work(thread, own);
    if (thread == 0) counters = own;
  });
  for (const SequenceStep& s : sequences) s.cache->advance(static_cast<int64_t>(s.tokens.size()));
  counters_ = counters;
  const RowsRef& logits = run.plan.logits;
  const auto floats = static_cast<size_t>(logits.rows.at(run.batch.symbols()) * logits.width);
  return {run.view(logits, 0).data, floats};
}

}  // namespace atb

// One kernel launch of a plan. A step owns what never changes (kernel, weights, attributes) and is handed everything
// else: where its operands lie, and the batch. So the same step runs over whole tensors, or over a slab of a few rows.
#pragma once

#include "runtime/batch.h"

namespace atb {

/// An operand: row r starts at data + r * stride. Prepared activations are bytes behind the same pointer.
struct View {
  float* data = nullptr;
  int64_t stride = 0;  ///< floats
};

inline constexpr int kMaxStepInputs = 4;

struct StepArgs {
  const Batch& batch;
  View in[kMaxStepInputs] = {};
  View out = {};
};

/// How tiles relate to rows. Two steps with the same partition give the same rows to the same thread, so the second
/// can read what the first wrote without a barrier between them.
struct Partition {
  enum class Kind : uint8_t {
    kFree,     ///< no relation
    kFixed,    ///< tile i touches row i of per_row rows, whatever the batch
    kTokens,   ///< tile i touches row i of per_row * tokens rows of each operand
    kOutputs,  ///< the same for outputs
    kScores,   ///< tile i touches row i of the scores of per_row heads, sequence by sequence
    kRowTiles  ///< the batch rows go to the threads in tiles of per_row rows
  };
  Kind kind = Kind::kFree;
  int64_t per_row = 1;
  bool operator==(const Partition&) const = default;
  int64_t tiles(const Batch& batch) const noexcept {
    if (kind == Kind::kFixed) return per_row;
    return per_row * (kind == Kind::kOutputs ? batch.outputs : batch.rows);
  }
};

/// A step whose results for some rows of the batch need its operands for these rows only.
class RowLocal {
 public:
  virtual ~RowLocal() = default;
  /// Rows [begin, end) of the batch; the same bits as Step::run. Of operands and result only these rows need exist.
  virtual void run_rows(const StepArgs& args, int64_t begin, int64_t end) const noexcept = 0;
};

class Step {
 public:
  virtual ~Step() = default;
  virtual const char* kernel() const noexcept = 0;  ///< "rms_norm/avx512"
  virtual Partition partition() const noexcept { return {}; }
  virtual const RowLocal* row_local() const noexcept { return nullptr; }  ///< itself, if it is
  virtual int64_t tiles(const Batch& batch) const noexcept = 0;
  /// Tiles [begin, end). Any split of the tiles gives the same bits.
  virtual void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept = 0;
};

/// A step whose tiles are those of its partition (not kFree, not kRowTiles).
class PartitionedStep : public Step, public RowLocal {
 public:
  explicit PartitionedStep(Partition partition) : partition_(partition) {}
  Partition partition() const noexcept final { return partition_; }
  int64_t tiles(const Batch& batch) const noexcept final { return partition_.tiles(batch); }
  const RowLocal* row_local() const noexcept override {
    const bool follows_rows =
        partition_.kind == Partition::Kind::kTokens || partition_.kind == Partition::Kind::kScores;
    return follows_rows ? this : nullptr;
  }
  void run_rows(const StepArgs& args, int64_t begin, int64_t end) const noexcept final;

 private:
  Partition partition_;
};

}  // namespace atb

#include "runtime/step.h"

namespace atb {

void PartitionedStep::run_rows(const StepArgs& args, int64_t begin, int64_t end) const noexcept {
  const int64_t n = partition_.per_row;
  if (partition_.kind != Partition::Kind::kScores) return run(args, n * begin, n * end);
  for_each_sequence(args.batch, 1, begin, end, [&](const SequenceRows& s, int64_t from, int64_t to) {
    for (int64_t head = 0; head < n; ++head) {
      const int64_t first = n * s.first_row + head * s.rows;
      run(args, first + from, first + to);
    }
  });
}

}  // namespace atb

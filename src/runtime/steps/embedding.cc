#include "kernels/rows/rows.h"
#include "runtime/lowering.h"

namespace atb {
namespace {

/// Rows of a table in the file, decoded as they are read.
class EmbeddingStep final : public PartitionedStep {
 public:
  EmbeddingStep(Partition partition, const TensorInfo& table, GraphInput ids)
      : PartitionedStep(partition), dtype_(table.dtype), table_(table.data), columns_(table.shape[1]), ids_(ids) {}

  const char* kernel() const noexcept override { return "embedding/portable"; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    embedding({.dtype = dtype_,
               .table = table_,
               .columns = columns_,
               .ids = args.batch.inputs[static_cast<size_t>(ids_)],
               .y = args.out.data,
               .ldy = args.out.stride},
              begin, end);
  }

 private:
  DType dtype_;
  const std::byte* table_;
  int64_t columns_;
  GraphInput ids_;
};

}  // namespace

void lower_embedding(Lowering& lowering, const Node& node) {
  if (lowering.value(node.inputs[0]).kind != ValueKind::kParam)
    lowering.fail("the table of an embedding must be a param", "look rows of results up with take_rows");
  const TensorInfo table = lowering.param(node.inputs[0]);
  const GraphInput ids = lowering.input(node.inputs[1]);
  lowering.limit_input(ids, table.shape[0]);
  const TensorRef out = lowering.new_tensor(extents_of(lowering.value(node.output).shape));
  const RowsRef rows = lowering.rows(out);
  lowering.define(node.output, out);
  lowering.emit(std::make_unique<EmbeddingStep>(partition_of(rows.rows), table, ids), {.inputs = {}, .output = rows});
}

}  // namespace atb

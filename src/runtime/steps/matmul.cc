#include "kernels/matmul/matmul.h"

#include <algorithm>

#include "runtime/lowering.h"
#include "runtime/precision.h"

namespace atb {
namespace {

/// Rows of one tile where panels alone do not split evenly: enough to reuse a panel from the first-level cache.
constexpr int64_t kRowBlock = 32;

/// fp32 rows to what the matmul kernel reads. Matmuls that share an input share the result.
class PrepareStep final : public PartitionedStep {
 public:
  PrepareStep(Partition partition, PrepareFn prepare, const ActivationLayout& layout)
      : PartitionedStep(partition), prepare_(prepare), layout_(layout) {}

  const char* kernel() const noexcept override { return "prepare"; }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    prepare_(layout_, args.in[0].data, args.in[0].stride, reinterpret_cast<std::byte*>(args.out.data), begin, end);
  }

 private:
  PrepareFn prepare_;
  ActivationLayout layout_;
};

/// Rows times a packed weight. Tiles are panels x blocks of rows, blocks fastest: a share is whole panels (each thread
/// streams its part of the weights once) with part of a panel at both ends.
class MatMulStep final : public Step, public RowLocal {
 public:
  MatMulStep(const MatMulKernel& kernel, const PackedWeight& weight, const Extent& rows, int64_t bytes_per_stride)
      : kernel_(kernel), weight_(weight), rows_(rows), bytes_per_stride_(bytes_per_stride) {}

  const char* kernel() const noexcept override { return kernel_.name; }
  const RowLocal* row_local() const noexcept override {
    return rows_ == Extent{0, rows_.tokens, 0, 0} ? this : nullptr;
  }

  int64_t tiles(const Batch& batch) const noexcept override {
    return panel_count(weight_.source.n) * blocks(rows_.at(batch.symbols()));
  }

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    const int64_t m = rows_.at(args.batch.symbols()), per_panel = blocks(m);
    while (begin < end) {
      const int64_t panel = begin / per_panel, block = begin % per_panel;
      if (block == 0 && end - begin >= per_panel) {
        const int64_t stop = end / per_panel;
        multiply(args, 0, m, panel, stop);
        begin = stop * per_panel;
      } else {
        const int64_t stop = std::min(per_panel, block + end - begin);
        multiply(args, block * kRowBlock, std::min(m, stop * kRowBlock), panel, panel + 1);
        begin += stop - block;
      }
    }
  }

  void run_rows(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    multiply(args, rows_.tokens * begin, rows_.tokens * end, 0, panel_count(weight_.source.n));
  }

 private:
  static int64_t blocks(int64_t rows) { return (rows + kRowBlock - 1) / kRowBlock; }

  void multiply(const StepArgs& args, int64_t row_begin, int64_t row_end, int64_t panel_begin,
                int64_t panel_end) const noexcept {
    const int64_t a_row_bytes = args.in[0].stride * bytes_per_stride_;
    kernel_.run({.a = reinterpret_cast<const std::byte*>(args.in[0].data) + row_begin * a_row_bytes,
                 .a_row_bytes = a_row_bytes,
                 .w = weight_.panels,
                 .c = args.out.data + row_begin * args.out.stride,
                 .ldc = args.out.stride,
                 .m = row_end - row_begin,
                 .n = weight_.source.n,
                 .k = weight_.source.k,
                 .format = weight_.format},
                panel_begin, panel_end);
  }

  const MatMulKernel& kernel_;
  const PackedWeight& weight_;
  Extent rows_;
  int64_t bytes_per_stride_;
};

/// Two results multiplied: nothing to pack. One matrix for all rows of x, or one per `rows_per_matrix` rows.
class ActivationMatMulStep final : public PartitionedStep {
 public:
  ActivationMatMulStep(Partition partition, TensorRef w, Extent rows_per_matrix, WeightLayout layout)
      : PartitionedStep(partition), w_(std::move(w)), rows_per_matrix_(rows_per_matrix), layout_(layout) {}

  const char* kernel() const noexcept override { return "matmul_activations/portable"; }
  const RowLocal* row_local() const noexcept override { return nullptr; }  // it reads all of the second matrix

  void run(const StepArgs& args, int64_t begin, int64_t end) const noexcept override {
    const Symbols symbols = args.batch.symbols();
    const size_t rank = w_.shape.size(), out_in = layout_ == WeightLayout::kOutIn;
    const size_t n_axis = out_in ? rank - 2 : rank - 1, k_axis = out_in ? rank - 1 : rank - 2;
    const int64_t n = w_.shape[n_axis].at(symbols), k = w_.shape[k_axis].at(symbols);
    const int64_t n_stride = w_.strides[n_axis].at(symbols), k_stride = w_.strides[k_axis].at(symbols);
    const int64_t per_matrix = rows_per_matrix_.at(symbols);
    for (int64_t row = begin; row < end; ++row) {
      const float* x = args.in[0].data + row * args.in[0].stride;
      const float* w = args.in[1].data + (rank > 2 ? row / per_matrix * n * k : 0);
      float* y = args.out.data + row * args.out.stride;
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t i = 0; i < k; ++i) sum += x[i] * w[j * n_stride + i * k_stride];
        y[j] = sum;
      }
    }
  }

 private:
  TensorRef w_;
  Extent rows_per_matrix_;
  WeightLayout layout_;
};

WeightSource weight_source(const Lowering& lowering, const Node& node) {
  const TensorInfo w = lowering.param(node.inputs[1]);
  const bool in_out = std::get<MatMulAttrs>(node.attrs).layout == WeightLayout::kInOut;
  return {w.dtype, w.data, w.shape[in_out ? 1 : 0], w.shape[in_out ? 0 : 1], in_out};
}

/// The operand as the kernel reads it: the rows themselves, or rows prepared once for all that share them.
RowsRef prepare(Lowering& lowering, const RowsRef& x, const MatMulKernel& kernel, const ActivationLayout& layout) {
  if (kernel.prepare == nullptr) return x;
  const std::string key = "prepared " + std::to_string(static_cast<int>(layout.format)) + " " +
                          std::to_string(layout.group) + " " +
                          std::to_string(reinterpret_cast<uintptr_t>(kernel.prepare));
  BufferId& buffer = lowering.prepared(x, key);
  const bool is_new = buffer == kNoBuffer;
  const auto row_bytes = static_cast<int64_t>(layout.row_bytes());
  if (is_new) buffer = lowering.new_buffer({x.rows}, layout.row_bytes());
  const RowsRef rows{buffer, nullptr, {}, x.rows, layout.k, row_bytes};
  if (is_new)
    lowering.emit(std::make_unique<PrepareStep>(partition_of(x.rows), kernel.prepare, layout),
                  {.inputs = {x}, .output = rows});
  return rows;
}

void lower_packed(Lowering& lowering, const Node& node) {
  const WeightSource source = weight_source(lowering, node);
  const PackedFormat format = weight_format(source.dtype, lowering.options().precision);
  const MatMulKernel& kernel = select_matmul(format.kind, lowering.options().isas);
  const PackedWeight& weight = lowering.weights().add(source, format);
  const RowsRef x = lowering.rows(node.inputs[0]);
  const RowsRef a = prepare(lowering, x, kernel, activation_layout(kernel, format, source.k));
  const TensorRef out = lowering.new_tensor(extents_of(lowering.value(node.output).shape));
  lowering.define(node.output, out);
  lowering.count_weight(kernel, weight);
  const int64_t bytes_per_stride = kernel.prepare == nullptr ? sizeof(float) : 1;
  lowering.emit(std::make_unique<MatMulStep>(kernel, weight, x.rows, bytes_per_stride),
                {.inputs = {a}, .output = lowering.rows(out), .heavy = true});
}

void lower_activations(Lowering& lowering, const Node& node) {
  const RowsRef x = lowering.rows(node.inputs[0]);
  const Extents& x_shape = lowering.tensor(node.inputs[0]).shape;
  TensorRef w = lowering.tensor(node.inputs[1]);
  if (w.scores || (w.shape.size() > 2 && !is_dense(w)))
    lowering.fail("the second matrix of a product must be dense", "let it be a result of its own");
  const Extent rows_per_matrix = x_shape.size() < 2 ? Extent::fixed(1) : x_shape[x_shape.size() - 2];
  const TensorRef out = lowering.new_tensor(extents_of(lowering.value(node.output).shape));
  const RowsRef y = lowering.rows(out), w_place = whole(w);
  lowering.define(node.output, out);
  lowering.emit(std::make_unique<ActivationMatMulStep>(partition_of(y.rows), std::move(w), rows_per_matrix,
                                                       std::get<MatMulAttrs>(node.attrs).layout),
                {.inputs = {x, w_place}, .output = y, .heavy = true});
}

}  // namespace

void lower_matmul(Lowering& lowering, const Node& node) {
  const Value& w = lowering.value(node.inputs[1]);
  if (w.kind == ValueKind::kParam && w.shape.size() == 2)
    lower_packed(lowering, node);
  else
    lower_activations(lowering, node);
}

}  // namespace atb

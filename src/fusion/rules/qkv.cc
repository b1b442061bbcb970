// Query, key and value projections of one input are one group of products: the input is read once.
#include "fusion/clauses.h"

namespace atb::rules {

Rule qkv() {
  return Rule("qkv")
      .row(11)
      .equation("q = x Wq, k = x Wk, v = x Wv")
      .pattern(siblings(matmul(_, any("w"))))
      .shapes("x [.., K], Wq [Nq, K], Wk [Nk, K], Wv [Nv, K]")
      .require({inference, fp32_accumulates, plain_matrix, same_attention})
      .numerics(Numerics::kReordersFp32)
      .kinds(kKindAttention)
      .saves("traffic(x), 1 launch")
      .example(R"(
  %x = input "x" : T[tokens, 24]
  %wq = param "wq" : T[24, 24]
  %k = input "k" : T[tokens, 24]
  %wv = param "wv" : T[24, 24]
  %q = matmul(%x, %wq)
  %v = matmul(%x, %wv)
  %s = scores(%q, %k) {heads = 3, kv_heads = 3, head_dim = 8}
  %p = softmax(%s)
  %y = values(%p, %v) {heads = 3, kv_heads = 3, head_dim = 8}
  output "y" %y
)");
}

}  // namespace atb::rules

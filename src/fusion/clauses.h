// The conditions that rules require, by name. Each states one thing that fusers are known to get wrong; a refusal says
// which node breaks it and how.
#pragma once

#include "fusion/rule.h"

namespace atb::rules {

// Every site.
extern const Clause inference;         ///< not a training pass: gradients need the intermediates, dropout draws
extern const Clause no_cast_between;   ///< an explicit cast is a rounding point and is not looked through
extern const Clause fp32_accumulates;  ///< f32, f16 or bf16: what an fp32 accumulator is good enough for

// Who else reads the joined value.
extern const Clause single_use;             ///< one reader, and not an output of the graph
extern const Clause only_products_read;     ///< readers are products that join as well, and the block's residual add
extern const Clause slices_do_not_overlap;  ///< a packed result is only sliced, and no element goes to two readers
extern const Clause state_read_once;        ///< the cache before the append has no other reader

// Shapes and dtypes.
extern const Clause same_shape;         ///< nothing is broadcast: both operands have the result's very dimensions
extern const Clause bias_of_row;        ///< the bias has one element per column
extern const Clause gamma_of_row;       ///< gamma (and beta) has one element per element of the row
extern const Clause gamma_dtype;        ///< gamma is f32 or has the dtype of x; it is applied in fp32
extern const Clause plain_matrix;       ///< W is a matrix that is known before the run
extern const Clause same_head_layout;   ///< scores and values agree in heads, KV heads and head size
extern const Clause rope_fits_heads;    ///< the rotation's head size is that of the scores
extern const Clause same_rotation;      ///< q and k turn by the same pairing, width and frequencies
extern const Clause qk_norm_of_head;    ///< the norm spans one head, not the whole row
extern const Clause swaps_matrix_axes;  ///< the permutation is the transpose of the last two axes, and no other

// Order and meaning.
extern const Clause bias_before_residual;  ///< the sum includes the bias: nothing is added to it behind the residual
extern const Clause one_activated_factor;  ///< of gate and up exactly one passed the activation
extern const Clause gate_function;         ///< the activation is one that gates: not tanh
extern const Clause gamma_is_raw;          ///< with one_plus_weight the 1 is not in the weight already
extern const Clause same_attention;        ///< both products feed the same scores and values
extern const Clause same_gate;             ///< both products meet in one gate * up
extern const Clause one_mask;              ///< no second mask on top of the one of the scores
extern const Clause mask_is_given;         ///< the mask comes from outside; it is not computed from scores
extern const Clause causal_ends_align;     ///< causal scores: the last query is the last key (bottom-right)
extern const Clause no_rope_with_alibi;    ///< positions are told once

}  // namespace atb::rules

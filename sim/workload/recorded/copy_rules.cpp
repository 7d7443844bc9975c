// Rules of operators that move or make tensors and compute nothing. Views and allocations run no kernel,
// copies read and write, fills write.
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// Returns no work: the operator launches no kernel.
std::vector<RecordedWork> nothing(const RecordedCall&, const OperatorRule&) { return {}; }

/// Counts the last operand as the source: copy_() names its target first.
std::vector<RecordedWork> copied(const RecordedCall& call, const OperatorRule& rule) {
  const double read = call.in_count() > 0 ? call.in(call.in_count() - 1).bytes() : 0;
  return {{rule.each * call.out(0).elements(), read + call.out_bytes()}};
}

// Concatenations read all operands; fills read none.
std::vector<RecordedWork> joined(const RecordedCall& call, const OperatorRule& rule) {
  return {{rule.each * call.out(0).elements(), call.in_bytes() + call.out_bytes()}};
}

/// Counts the bytes that are written.
std::vector<RecordedWork> filled(const RecordedCall& call, const OperatorRule& rule) {
  return {{rule.each * call.out(0).elements(), call.out_bytes()}};
}

/// Counts zeros of the whole, then the part copied in.
std::vector<RecordedWork> into_zeros_of_whole(const RecordedCall& call, const OperatorRule&) {
  return {{call.out(0).elements(), call.out_bytes() + 2 * call.in(0).bytes(), 2}};
}

/// Returns a row that moves bytes, and counts no FLOPs or one an element.
OperatorRule moving_row(std::string_view name, std::string_view flops, std::string_view bytes,
                        std::vector<RecordedWork> (*work)(const RecordedCall&, const OperatorRule&),
                        OperatorRole role) {
  return {name, OperatorClass::copy, HostCall::copy, flops, bytes, work, flops == "n" ? 1.0 : 0.0, role};
}

/// Adds the operators that run no kernel.
void add_silent(std::vector<OperatorRule>& rows) {
  for (const char* name : {"t",
                           "view",
                           "_unsafe_view",
                           "_reshape_alias",
                           "reshape",
                           "expand",
                           "expand_as",
                           "permute",
                           "transpose",
                           "slice",
                           "select",
                           "unsqueeze",
                           "squeeze",
                           "detach",
                           "alias",
                           "split",
                           "split_with_sizes",
                           "unbind",
                           "chunk",
                           "tensor_split",
                           "as_strided",
                           "narrow",
                           "diagonal",
                           "unfold",
                           "movedim",
                           "swapaxes",
                           "flatten",
                           "unflatten",
                           "view_as",
                           "view_as_real",
                           "view_as_complex",
                           "real",
                           "imag",
                           "mT",
                           "numpy_T",
                           "lift_fresh",
                           "lift",
                           "set_data",
                           "set",
                           "empty",
                           "empty_like",
                           "empty_strided",
                           "new_empty",
                           "new_empty_strided",
                           "resize",
                           "resize_as",
                           "_local_scalar_dense",
                           "item",
                           "is_nonzero",
                           "result_type",
                           "_conj",
                           "resolve_conj",
                           "resolve_neg",
                           "_neg_view",
                           "broadcast_to",
                           "broadcast_tensors",
                           "hsplit",
                           "vsplit",
                           "contiguous",
                           "requires_grad",
                           "record_stream"})
    rows.push_back(moving_row(name, "0", "0", nothing, OperatorRole::silent));
}

}  // namespace

// The groups: views and allocations, copies, concatenations, rearrangements, fills, and gradients of views.
std::vector<OperatorRule> copy_rules() {
  std::vector<OperatorRule> rows;
  add_silent(rows);
  for (const char* name : {"clone", "copy", "_to_copy", "to", "_pin_memory", "lift_fresh_copy", "_copy_from",
                           "permute_copy", "view_copy"})
    rows.push_back(moving_row(name, "0", "source, result", copied, OperatorRole::copy));
  // Concatenations read all operands and are calls of their own.
  for (const char* name : {"cat", "concat", "stack", "_cat"}) {
    OperatorRule row = moving_row(name, "0", "operands + results", joined, OperatorRole::alone);
    row.call = HostCall::concat;
    rows.push_back(row);
  }
  // Rearrangements move every element once and count one FLOP each.
  for (const char* name : {"roll",
                           "masked_scatter_backward",
                           "_pack_padded_sequence",
                           "randperm",
                           "flip",
                           "repeat",
                           "repeat_interleave",
                           "constant_pad_nd",
                           "tril",
                           "triu",
                           "reflection_pad1d",
                           "reflection_pad2d",
                           "reflection_pad3d",
                           "replication_pad1d",
                           "replication_pad2d",
                           "replication_pad3d",
                           "reflection_pad2d_backward",
                           "reflection_pad1d_backward",
                           "replication_pad2d_backward",
                           "pixel_shuffle",
                           "pixel_unshuffle",
                           "channel_shuffle",
                           "im2col",
                           "col2im",
                           "unfold_backward",
                           "rot90"})
    rows.push_back(moving_row(name, "n", "source, result", copied, OperatorRole::alone));
  // Fills write their result; the first group counts no FLOPs.
  for (const char* name : {"zeros", "zero", "fill", "new_zeros", "new_ones"})
    rows.push_back(moving_row(name, "0", "result", filled, OperatorRole::fill));
  for (const char* name : {"zeros_like", "ones", "ones_like", "full", "full_like", "new_full", "arange",
                           "scalar_tensor", "linspace", "eye", "tril_indices", "triu_indices", "range"})
    rows.push_back(moving_row(name, "n", "result", filled, OperatorRole::fill));
  // Gradients of views write the part into zeros of the whole.
  for (const char* name : {"slice_backward", "select_backward", "diagonal_backward", "as_strided_backward",
                           "slice_scatter", "select_scatter"})
    rows.push_back(moving_row(name, "n", "result + 2 operand", into_zeros_of_whole, OperatorRole::alone));
  return rows;
}

}  // namespace foretrain

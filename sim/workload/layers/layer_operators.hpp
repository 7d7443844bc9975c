// What each type of layer does to a tape: the operators it issues forward and backward, its parameters, what
// it keeps.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/workload/layers/layer.hpp"
#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// The layer's result, or why it does not fit its input.
struct Applied {
  TensorId tensor = 0;
  std::string message, hint;
  bool ok() const { return message.empty(); }
};

inline Applied misfit(std::string message, std::string hint) {
  return {0, std::move(message), std::move(hint)};
}

/// Records one layer without branches. The layer's own fields have passed check_layer(). FLOPs and bytes:
/// docs/models/operators.md.
using ApplyLayer = Applied (*)(Tape& tape, const Layer& layer, TensorId input);

Applied apply_convolution(Tape& tape, const Layer& layer, TensorId input);
Applied apply_linear(Tape& tape, const Layer& layer, TensorId input);
Applied apply_embedding(Tape& tape, const Layer& layer, TensorId input);
Applied apply_batch_norm(Tape& tape, const Layer& layer, TensorId input);
Applied apply_layer_norm(Tape& tape, const Layer& layer, TensorId input);
Applied apply_group_norm(Tape& tape, const Layer& layer, TensorId input);
Applied apply_max_pool(Tape& tape, const Layer& layer, TensorId input);
Applied apply_avg_pool(Tape& tape, const Layer& layer, TensorId input);
Applied apply_adaptive_avg_pool(Tape& tape, const Layer& layer, TensorId input);
Applied apply_activation(Tape& tape, const Layer& layer, TensorId input);
Applied apply_softmax(Tape& tape, const Layer& layer, TensorId input);
Applied apply_dropout(Tape& tape, const Layer& layer, TensorId input);
Applied apply_dropout_channels(Tape& tape, const Layer& layer, TensorId input);
Applied apply_drop_path(Tape& tape, const Layer& layer, TensorId input);
Applied apply_upsample(Tape& tape, const Layer& layer, TensorId input);
Applied apply_slice(Tape& tape, const Layer& layer, TensorId input);
Applied apply_reshape(Tape& tape, const Layer& layer, TensorId input);
Applied apply_flatten(Tape& tape, const Layer& layer, TensorId input);
Applied apply_attention(Tape& tape, const Layer& layer, TensorId input);
Applied apply_loss(Tape& tape, const Layer& layer, TensorId input);
Applied apply_token_type(Tape& tape, const Layer& layer, TensorId input);
Applied apply_position(Tape& tape, const Layer& layer, TensorId input);
Applied apply_class_token(Tape& tape, const Layer& layer, TensorId input);
Applied apply_parameter(Tape& tape, const Layer& layer, TensorId input);
Applied apply_to_sequence(Tape& tape, const Layer& layer, TensorId input);
Applied apply_first_token(Tape& tape, const Layer& layer, TensorId input);
Applied apply_shift(Tape& tape, const Layer& layer, TensorId input);
Applied apply_gelu_new(Tape& tape, const Layer& layer, TensorId input);
Applied apply_window_attention(Tape& tape, const Layer& layer, TensorId input);
Applied apply_patch_merging(Tape& tape, const Layer& layer, TensorId input);
Applied apply_mean_tokens(Tape& tape, const Layer& layer, TensorId input);
Applied apply_relative_attention(Tape& tape, const Layer& layer, TensorId input);
Applied apply_additive_attention(Tape& tape, const Layer& layer, TensorId input);
Applied apply_gated_tanh(Tape& tape, const Layer& layer, TensorId input);
Applied apply_pass(Tape& tape, const Layer& layer, TensorId input);
Applied apply_adaptive_embedding(Tape& tape, const Layer& layer, TensorId input);
Applied apply_adaptive_softmax(Tape& tape, const Layer& layer, TensorId input);
Applied apply_pointwise(Tape& tape, const Layer& layer, TensorId input);
Applied apply_timed(Tape& tape, const Layer& layer, TensorId input);
Applied apply_recurrent(Tape& tape, const Layer& layer, TensorId input);

/// Records a layer that joins several tensors, at least one: add, concat, multiply, roi_align.
using JoinTensors = Applied (*)(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs);
Applied join_add(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs);
Applied join_multiply(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs);
Applied join_dot_interaction(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs);
Applied join_roi_align(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs);
Applied join_concat(Tape& tape, const Layer& layer, const std::vector<TensorId>& inputs);

/// One row per LayerType, in the order of the enumeration; both null for `start`, which has no input.
struct LayerTypeRow {
  std::string_view name;
  ApplyLayer apply = nullptr;
  JoinTensors join = nullptr;
};
const LayerTypeRow& row_of(LayerType type);

/// Whether every number given for each side counts as many as the input has sides, or one for all.
Applied check_sides(const Layer& layer, std::size_t sides);

/// The layer's own numbers, before any shape is known; empty when they are in range.
std::vector<ModelFault> check_layer(const Layer& layer);
/// The part of check_layer() for layers over sequences.
std::vector<ModelFault> check_sequence_fields(const Layer& layer);

}  // namespace foretrain

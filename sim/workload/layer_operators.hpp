// What each type of layer does to a tape: the operators it issues forward and backward, its parameters, what it keeps.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/workload/layer.hpp"
#include "sim/workload/tape.hpp"

namespace foretrain {

/// The layer's result, or why it does not fit its input.
struct Applied {
  TensorId tensor = 0;
  std::string message, hint;
  bool ok() const { return message.empty(); }
};

inline Applied misfit(std::string message, std::string hint) { return {0, std::move(message), std::move(hint)}; }

/// Records one layer without branches. The layer's own fields have passed check_layer(). FLOPs and bytes: docs/models/operators.md.
using ApplyLayer = Applied (*)(Tape& tape, const Layer& layer, TensorId input);

Applied apply_conv2d(Tape& tape, const Layer& layer, TensorId input);
Applied apply_linear(Tape& tape, const Layer& layer, TensorId input);
Applied apply_embedding(Tape& tape, const Layer& layer, TensorId input);
Applied apply_batch_norm(Tape& tape, const Layer& layer, TensorId input);
Applied apply_layer_norm(Tape& tape, const Layer& layer, TensorId input);
Applied apply_max_pool(Tape& tape, const Layer& layer, TensorId input);
Applied apply_avg_pool(Tape& tape, const Layer& layer, TensorId input);
Applied apply_adaptive_avg_pool(Tape& tape, const Layer& layer, TensorId input);
Applied apply_activation(Tape& tape, const Layer& layer, TensorId input);
Applied apply_softmax(Tape& tape, const Layer& layer, TensorId input);
Applied apply_dropout(Tape& tape, const Layer& layer, TensorId input);
Applied apply_flatten(Tape& tape, const Layer& layer, TensorId input);
Applied apply_attention(Tape& tape, const Layer& layer, TensorId input);
Applied apply_loss(Tape& tape, const Layer& layer, TensorId input);

/// A matrix product with trained weights over the last dimension of a sequence or of features; `prefix` goes before "weight".
TensorId record_linear(Tape& tape, TensorId input, std::int64_t out, bool bias, std::string_view prefix);

/// One row per LayerType, in the order of the enumeration; `apply` is null where the layer joins branches.
struct LayerTypeRow {
  std::string_view name;
  ApplyLayer apply;
};
const LayerTypeRow& row_of(LayerType type);

/// The layer's own numbers, before any shape is known; empty when they are in range.
std::vector<ModelFault> check_layer(const Layer& layer);

}  // namespace foretrain

// Rules of LSTM, GRU and plain recurrent layers as one library call runs them, and of the fused gates of
// single cells. The work is that of sim/workload/layers/recurrent.cpp, from the sizes of input, states and
// weights.
#include <algorithm>

#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {
namespace {

/// A direction of a layer: its sizes, products and work.
struct RecordedCells {
  double gates = 4, hidden = 0, in = 0, steps = 0, samples = 0, element = 4;
  bool bias = true;

  /// Returns the rows of a product that runs over all steps at once.
  double rows() const { return steps * samples; }
  /// Returns the columns of all gates together.
  double gate_width() const { return gates * hidden; }
  /// Returns FLOPs of a hidden element and step: 3 additions a gate, activations, the update of the state.
  double pointwise() const { return gates == 4 ? 21 : gates == 3 ? 17 : 3; }
  // FLOPs at 2 a multiply-add, and bytes, of the products with the inputs and with the hidden states. The
  // weights of the states are read `reads` times: once a step where the steps follow each other.
  double input_flops() const { return 2 * rows() * in * gate_width(); }
  double hidden_flops() const { return 2 * rows() * hidden * gate_width(); }
  double input_bytes() const { return element * (in * gate_width() + rows() * (in + gate_width())); }
  double hidden_bytes(double reads) const {
    return element * (reads * hidden * gate_width() + rows() * (hidden + gate_width()));
  }
  double bias_elements() const { return bias ? 2 * gate_width() : 0; }

  // The products, as [m x k] times [k x n]. That of the inputs takes all steps at once; those of the states
  // run one after another, a step each; that for weights sums over all rows.
  Product of_inputs(double n, double k) const {
    return {rows(), n, k, 1, 1, Product::Grows::rows, 1, 1, {input_bytes(), 0}};
  }
  Product of_states(double n, double k) const {
    return {samples, n, k, 1, steps, Product::Grows::rows, 1, 1, {hidden_bytes(steps), 0}};
  }
  Product of_weights(double n, double bytes) const {
    return {gate_width(), n, rows(), 1, 1, Product::Grows::depth, 1, 1, {bytes, 0}};
  }

  // Forward: one product of all inputs, then a product and gates in every step.
  RecordedWork forward() const {
    const double cells = element * (bias_elements() + rows() * hidden * (2 * gates + 3));
    return {input_flops() + hidden_flops() + pointwise() * rows() * hidden,
            input_bytes() + hidden_bytes(steps) + cells,
            static_cast<int>(std::min(1 + 2 * steps, 65'535.0)),
            {of_inputs(gate_width(), in), of_states(gate_width(), hidden)}};
  }
  /// Returns the work of the gradients of states, step by step, and of the input where it needs one. The
  /// latter is one product over all steps.
  RecordedWork backward_of_data(bool input_gradient) const {
    RecordedWork work{hidden_flops() + pointwise() * rows() * hidden,
                      hidden_bytes(steps) + element * rows() * hidden * (3 * gates + 3),
                      static_cast<int>(std::min(2 * steps, 65'534.0)),
                      {of_states(hidden, gate_width())}};
    if (!input_gradient) return work;
    work.flops += input_flops(), work.bytes += input_bytes(), work.kernels += 1;
    work.products.push_back(of_inputs(in, gate_width()));
    return work;
  }
  // The gradients of both weights are products over all steps at once.
  RecordedWork backward_of_weights() const {
    RecordedWork work{input_flops() + hidden_flops(),
                      input_bytes() + hidden_bytes(1),
                      bias ? 3 : 2,
                      {of_weights(in, input_bytes()), of_weights(hidden, hidden_bytes(1))}};
    if (bias)
      work.flops += rows() * gate_width(), work.bytes += element * (bias_elements() + rows() * gate_width());
    return work;
  }
};

/// The layers and directions of a network. Each has a pair of weights, [gates x hidden, in] and [gates x
/// hidden, hidden]. Without weights the numbers of the call decide.
struct RecurrentPlan {
  RecordedCells cells;
  int layers = 1, directions = 1;
  double first_in = 0;

  /// Returns the cells of a layer; all but the first read both directions of the one before.
  RecordedCells at(int layer) const {
    RecordedCells own = cells;
    own.in = layer == 0 ? first_in : cells.hidden * directions;
    return own;
  }
};

/// Returns the gates: 4 for an LSTM, 3 for a GRU, 1 for a plain layer.
double gates_of_mode(const RecordedCall& call) {
  const RecordedArgument* mode = call.argument("mode");
  if (mode == nullptr) return 4;
  if (mode->word == "gru") return 3;
  return mode->word == "lstm" || mode->word.empty() ? 4 : 1;
}

/// Reads the sizes from the arguments and, for the hidden width, from the weights.
RecurrentPlan plan_of(const RecordedCall& call) {
  constexpr double kMostLayers = 1000;
  const TensorAt data = call.in(0);
  RecurrentPlan plan;
  plan.layers = static_cast<int>(std::clamp(call.number("num_layers", 1), 1.0, kMostLayers));
  plan.directions = call.flag("bidirectional") ? 2 : 1;
  plan.cells.gates = call.number("gates", gates_of_mode(call));
  plan.cells.bias = call.flag("has_biases", true);
  plan.cells.element = data.elements() > 0 ? data.bytes() / data.elements() : 4;
  plan.first_in = data.dim(-1);
  const bool batch_first = call.flag("batch_first");
  plan.cells.steps = data.rank() > 2 ? data.dim(batch_first ? 1 : 0) : 1;
  plan.cells.samples =
      plan.cells.steps * plan.first_in > 0 ? data.elements() / (plan.cells.steps * plan.first_in) : 0;
  // The hidden width is an argument, or follows from the first matrix of weights: gates x hidden rows.
  double hidden = call.number("hidden", call.number("hidden_size", 0));
  for (std::size_t i = 1; i < call.in_count() && hidden == 0; ++i) {
    const TensorAt weights = call.in(i);
    if (weights.rank() == 2 && plan.cells.gates > 0) hidden = weights.dim(0) / plan.cells.gates;
  }
  plan.cells.hidden = hidden;
  return plan;
}

/// Returns the work layer by layer and direction by direction.
std::vector<RecordedWork> recurrent_forward(const RecordedCall& call, const OperatorRule&) {
  const RecurrentPlan plan = plan_of(call);
  std::vector<RecordedWork> all;
  for (int layer = 0; layer < plan.layers; ++layer) {
    for (int direction = 0; direction < plan.directions; ++direction) all.push_back(plan.at(layer).forward());
  }
  return all;
}

/// True where a result has the size of the input, which then gets a gradient.
bool makes_input_gradient(const RecordedCall& call) {
  for (std::size_t i = 0; i < call.out_count(); ++i) {
    if (call.out(i).rank() == call.in(0).rank() && call.out(i).elements() == call.in(0).elements())
      return true;
  }
  return false;
}

// Backward goes through the layers in reverse: first all data gradients, then all weight gradients.
std::vector<RecordedWork> recurrent_backward(const RecordedCall& call, const OperatorRule&) {
  const RecurrentPlan plan = plan_of(call);
  const bool input_gradient = makes_input_gradient(call);
  std::vector<RecordedWork> all;
  for (int layer = plan.layers - 1; layer >= 0; --layer) {
    for (int direction = 0; direction < plan.directions; ++direction)
      all.push_back(plan.at(layer).backward_of_data(layer > 0 || input_gradient));
  }
  for (int layer = plan.layers - 1; layer >= 0; --layer) {
    for (int direction = 0; direction < plan.directions; ++direction)
      all.push_back(plan.at(layer).backward_of_weights());
  }
  return all;
}

/// Counts the gates of one step; its products are operators of their own.
std::vector<RecordedWork> fused_cell(const RecordedCall& call, const OperatorRule& rule) {
  const double n = call.in(0).elements() / std::max(1.0, call.number("gates", 4));
  return {{rule.each * n, call.in_bytes() + call.out_bytes()}};
}

/// Returns the row of a library call that runs all layers, forward or backward.
OperatorRule recurrent_row(std::string_view name, bool backward) {
  return {name,
          OperatorClass::gemm,
          HostCall::recurrent,
          backward ? "products as forward, and for the weights; gates as forward"
                   : "2 g h (in + h) a row, and its gates: LSTM 21 h, GRU 17 h",
          "as the layers `lstm`, `gru`",
          backward ? recurrent_backward : recurrent_forward};
}

/// Returns the row of the gates of one step, with `each` FLOPs a hidden element.
OperatorRule cell_row(std::string_view name, double each) {
  return {name,
          OperatorClass::elementwise,
          HostCall::activation,
          each == 21 ? "21 h" : "17 h",
          "operands + results",
          fused_cell,
          each};
}

}  // namespace

// Library calls run whole layers; the last five are gates of single cells.
std::vector<OperatorRule> recurrent_rules() {
  std::vector<OperatorRule> rows;
  for (const char* name :
       {"_cudnn_rnn", "lstm", "gru", "rnn_tanh", "rnn_relu", "miopen_rnn", "mkldnn_rnn_layer"})
    rows.push_back(recurrent_row(name, false));
  for (const char* name : {"_cudnn_rnn_backward", "miopen_rnn_backward", "mkldnn_rnn_layer_backward"})
    rows.push_back(recurrent_row(name, true));
  rows.push_back(cell_row("_thnn_fused_lstm_cell", 21));
  rows.push_back(cell_row("_thnn_fused_gru_cell", 17));
  rows.push_back(cell_row("_thnn_fused_lstm_cell_backward", 21));
  rows.push_back(cell_row("_thnn_fused_lstm_cell_backward_impl", 21));
  rows.push_back(cell_row("_thnn_fused_gru_cell_backward", 17));
  return rows;
}

}  // namespace foretrain

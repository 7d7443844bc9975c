// LSTM and GRU layers as one library call runs them (cuDNN), or cell by cell in a loop of the script
// (`steps`).
//
// With g gates (LSTM 4, GRU 3), s steps, input width i and hidden width h, each layer and direction first
// multiplies all inputs at once, s x i by i x g h. Then it multiplies step after step 1 x h by h x g h,
// followed by one element-wise kernel. The recurrent weights are read again at every step. Backward plays the
// steps in reverse, then makes the weights' gradients from all steps at once. In a loop of the script both
// products are recorded for all rows, and the tape cuts them into steps. Kept besides the input are the
// gates, the cell and the result of each step.
#include <algorithm>

#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"

namespace foretrain {
namespace {

constexpr std::int64_t kMostRecurrentLayers = 1'000;

/// Options of both layers.
struct Recurrent {
  /// Hidden width of one direction.
  std::int64_t width = 0;
  std::int64_t layers = 1;
  bool bidirectional = false, bias = true;
};

/// The differences between an LSTM and a GRU: gates, and the FLOPs and kept elements per hidden element and
/// step.
struct Cell {
  std::int64_t gates = 4;
  double pointwise = 21;  ///< 3 additions a gate, the activations, the cell's update
  /// Elements kept besides the result.
  double kept = 5;
};
constexpr Cell kLstm{}, kGru{3, 17, 4};

/// The sizes of one layer in one direction, and the work that follows from them.
struct RecurrentWork {
  double gates = 4, steps = 0, in = 0, hidden = 0;
  /// Both as in Cell.
  double pointwise = 21, kept = 5;
  bool stepwise = false, bias = true;

  double gate_width() const { return gates * hidden; }
  double serial() const { return stepwise ? 1 : steps; }  ///< of the recurrent products
  double input_flops() const { return 2 * steps * in * gate_width(); }
  double hidden_flops() const { return 2 * steps * hidden * gate_width(); }
  // Weights of the inputs are read once, the recurrent ones in every step.
  Amount input_bytes() const { return {4 * in * gate_width(), 4 * steps * (in + gate_width())}; }
  Amount hidden_bytes() const {
    return {4 * serial() * hidden * gate_width(), 4 * steps * (hidden + gate_width())};
  }
  Product of_inputs(double n, double k) const {
    return {steps, n, k, 1, 1, Product::Grows::rows, 1, 1, input_bytes()};
  }
  Product of_states(double n, double k) const {
    return {steps / serial(), n, k, 1, serial(), Product::Grows::rows, 1, 1, hidden_bytes()};
  }
  Product of_weights(double n, Amount bytes) const {
    return {gate_width(), n, steps, 1, 1, Product::Grows::depth, 1, 1, bytes};
  }
  double bias_elements() const { return bias ? 2 * gate_width() : 0; }
};

/// Saturates at the largest count that an operator holds.
int kernels_as_int(double kernels) { return static_cast<int>(std::min(kernels, 65'535.0)); }

Operator recurrent_operator(double flops, Amount bytes, double kernels) {
  return make_operator(OperatorClass::gemm, HostCall::recurrent, per_sample(flops), bytes,
                       kernels_as_int(kernels));
}

// Kernels: one product of all inputs, then a product and an element-wise kernel for each step.
Operator recurrent_forward_operator(const RecurrentWork& w) {
  Amount bytes = w.input_bytes();
  bytes += w.hidden_bytes();
  // The element-wise kernels read the gates and the cell, and write the cell, the result and the kept
  // tensors.
  bytes += Amount{4 * w.bias_elements(), 4 * w.steps * w.hidden * (2 * w.gates + 3)};
  const double flops = w.input_flops() + w.hidden_flops() + w.pointwise * w.steps * w.hidden;
  Operator op = recurrent_operator(flops, bytes, 1 + 2 * w.serial());
  return op.with(w.of_inputs(w.gate_width(), w.in)).with(w.of_states(w.gate_width(), w.hidden));
}

/// Returns the operator that makes the gradients of the states, step after step, and of the input.
Operator backward_of_data(const RecurrentWork& w, bool input_gradient) {
  Amount bytes = w.hidden_bytes();
  bytes += per_sample(4 * w.steps * w.hidden * (3 * w.gates + 3));
  if (input_gradient) bytes += w.input_bytes();
  const double flops =
      w.hidden_flops() + (input_gradient ? w.input_flops() : 0) + w.pointwise * w.steps * w.hidden;
  Operator op = recurrent_operator(flops, bytes, (input_gradient ? 1 : 0) + 2 * w.serial());
  op.with(w.of_states(w.hidden, w.gate_width()));
  return input_gradient ? op.with(w.of_inputs(w.in, w.gate_width())) : op;
}

/// Returns the operator that makes the gradients of the weights from all steps at once.
Operator backward_of_weights(const RecurrentWork& w) {
  const Amount input_bytes = w.input_bytes(),
               hidden_bytes{4 * w.hidden * w.gate_width(), w.hidden_bytes().per_sample};
  Amount bytes = input_bytes;
  bytes += hidden_bytes;
  double flops = w.input_flops() + w.hidden_flops();
  if (w.bias)
    flops += w.steps * w.gate_width(), bytes += Amount{4 * w.bias_elements(), 4 * w.steps * w.gate_width()};
  Operator op = recurrent_operator(flops, bytes, w.bias ? 3 : 2);
  return op.with(w.of_weights(w.in, input_bytes)).with(w.of_weights(w.hidden, hidden_bytes));
}

/// Registers weight_ih, weight_hh, bias_ih and bias_hh, as torch.nn.LSTM does for each layer and direction.
void add_parameters(Tape& tape, const RecurrentWork& w, const std::string& suffix,
                    std::vector<std::uint32_t>& ready) {
  const auto gates = static_cast<std::int64_t>(w.gate_width());
  ready.push_back(tape.parameter("weight_ih_" + suffix, gates * static_cast<std::int64_t>(w.in)));
  ready.push_back(tape.parameter("weight_hh_" + suffix, gates * static_cast<std::int64_t>(w.hidden)));
  if (!w.bias) return;
  ready.push_back(tape.parameter("bias_ih_" + suffix, gates));
  ready.push_back(tape.parameter("bias_hh_" + suffix, gates));
}

/// The backward steps of a whole stack: data gradients of the last layer first, then all weight gradients,
/// with which every parameter is ready.
struct Backward {
  std::vector<BackwardStep> data, weights;
  std::vector<std::uint32_t> ready;

  void add(const RecurrentWork& w, bool input_gradient) {
    data.insert(data.begin(), {backward_of_data(w, input_gradient), {}});
    weights.insert(weights.begin(), {backward_of_weights(w), {}});
  }

  std::vector<BackwardStep> steps() && {
    data.insert(data.end(), weights.begin(), weights.end());
    data.back().ready = ready;
    return std::move(data);
  }
};

// A single node stands for the stack, because the library runs it in one call.
template <const Cell& cell>
Applied apply_recurrent(Tape& tape, const Layer& layer, TensorId input) {
  const Shape in = tape.at(input).shape;
  const auto& own = layer.get<Recurrent>();
  const std::int64_t directions = own.bidirectional ? 2 : 1, gates = cell.gates;
  if (in.kind != ShapeKind::sequence) {
    return misfit(fmt::format("{} needs [sequence, width], not {}", layer.type->name, to_string(in)),
                  "place an embedding before it");
  }
  if (!bounded_product({gates, own.width, std::max(in.width(), directions * own.width)}) ||
      !bounded_product({in.rows(), gates, directions * own.width})) {
    return misfit(fmt::format("{} makes a tensor of more than 2^40 elements", layer.type->name),
                  "use a smaller width");
  }
  if (layer.steps > 1 && (layer.steps != in.rows() || own.bidirectional))
    return misfit(fmt::format("{} steps for {}", layer.steps, to_string(in)),
                  "a loop runs one direction, one step for each row");
  RecurrentWork work;
  work.gates = static_cast<double>(gates), work.steps = static_cast<double>(in.rows()),
  work.hidden = static_cast<double>(own.width);
  work.pointwise = cell.pointwise, work.kept = cell.kept, work.stepwise = layer.steps > 1,
  work.bias = own.bias;
  const Shape made = Shape::sequence(in.rows(), directions * own.width);
  Backward backward;
  // The result of a layer is the input of the next one, kept by both.
  tape.save(input);
  TensorId result = input;
  for (std::int64_t l = 0; l < own.layers; ++l) {
    work.in = static_cast<double>(l == 0 ? in.width() : made.width());
    result = tape.result(made, {input}, true);
    for (std::int64_t d = 0; d < directions; ++d) {
      add_parameters(tape, work, fmt::format("l{}{}", l, d == 1 ? "_reverse" : ""), backward.ready);
      tape.forward(recurrent_forward_operator(work));
      // The layers above the first always need the gradient of their input.
      backward.add(work, l > 0 || tape.at(input).needs_gradient);
      tape.save(per_sample(4 * work.kept * work.steps * work.hidden));
    }
    tape.save(result);
  }
  tape.node(std::move(backward).steps(), {input}, result);
  return {result, "", ""};
}

// A width of 0 means that it was not given.
void check_recurrent(const LayerCheck& check) {
  const auto& own = check.layer.get<Recurrent>();
  check.range("width", own.width, 1, kWidestLayer);
  check.range("layers", own.layers, 1, kMostRecurrentLayers);
}

void widen_recurrent(Layer& layer, const Wider& wider) {
  auto& own = layer.edit<Recurrent>();
  own.width = wider(own.width);
}

template <const Cell& cell>
LayerType recurrent_layer(std::string_view name) {
  using R = Recurrent;
  return {.name = name,
          .keys = {required_key<&R::width>("width"), layer_key<&R::layers>("layers"),
                   layer_key<&Layer::steps>("steps"), layer_key<&R::bidirectional>("bidirectional"),
                   layer_key<&R::bias>("bias")},
          .apply = apply_recurrent<cell>,
          .check = check_recurrent,
          .widening = {.sets_width = true, .widen = widen_recurrent}};
}

}  // namespace

LayerType lstm_layer() { return recurrent_layer<kLstm>("lstm"); }
LayerType gru_layer() { return recurrent_layer<kGru>("gru"); }

}  // namespace foretrain

// A mixture of experts: a router chooses `top` of `experts` perceptrons for each row, and the weighted
// results are added up.
//
// Mixtral's script loops over the experts and gathers the rows of each. `grouped` sorts all rows by expert
// once and runs each product as one kernel. Experts that every row passes (`shared_width`) are one more
// perceptron, as in DeepSeek and Qwen2.
//
// Rows are shared out evenly. Expert e of E takes those from floor(e R / E) to floor((e + 1) R / E) of the R
// = rows x top chosen ones, so their sum is exact. With a capacity of c percent each takes ceil(c R / 100 E)
// rows instead, some of them zeros, as in training that drops the rows that do not fit. A router with a
// balancing bias (DeepSeek-V3) adds it to the scores before the choice. The bias is no trained weight: the
// script changes it by a small step after each batch.
#include <algorithm>

#include <fmt/format.h>

#include "sim/workload/layers/expert_rows.hpp"
#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/linear.hpp"
#include "sim/workload/layers/softmax.hpp"

namespace foretrain {
namespace {

constexpr std::int64_t kMostExperts = 1024;
/// Percent: ten times the even share. A larger capacity is taken for a mistake.
constexpr std::int64_t kMostCapacity = 1000;
/// Operators behind the router's softmax: one-hot of the choice, its permutation, top-k, and the weights' sum
/// and quotient.
constexpr int kRouterOperators = 6;
constexpr int kPartsOfPerceptron = 4;

/// Options of the layer.
struct Experts {
  std::int64_t experts = 0, top = 0;
  /// Inner width of an expert.
  std::int64_t width = 0;
  bool gated = true;          ///< silu(x a) * (x b), otherwise silu(x a)
  bool grouped = false;       ///< one kernel for a product of all experts
  std::int64_t capacity = 0;  ///< percent of the even share that an expert takes; 0: what comes
  /// Inner width of the experts that every row passes, together; 0: none.
  std::int64_t shared_width = 0;
  bool shared_gate = false;  ///< their result is weighted by a sigmoid of its own
  /// A bias that balances the router's choice.
  bool balance_bias = false;
};

/// Records the router's product and softmax, and the small operators of its choice.
TensorId record_router(Tape& tape, const Experts& own, TensorId input) {
  const TensorId logits = record_linear(tape, input, own.experts, {LinearForm::Bias::none, "router."});
  const TensorId weights = record_softmax(tape, logits);
  const auto n = static_cast<double>(tape.at(weights).shape.elements());
  if (own.balance_bias) tape.untrained("router.bias", own.experts);
  const int passes = kRouterOperators + (own.balance_bias ? 1 : 0);
  Operator choice =
      script_pass(OperatorClass::elementwise, HostCall::activation, passes * n, 8 * passes * n, passes);
  choice.calls = static_cast<std::uint16_t>(passes);
  tape.forward(choice);
  return weights;
}

/// Returns the number of rows of all experts before `expert`.
std::int64_t rows_before(const Experts& own, std::int64_t rows, std::int64_t expert) {
  const std::int64_t chosen = rows * own.top;
  if (own.capacity == 0) return expert * chosen / own.experts;
  const std::int64_t parts = 100 * own.experts;
  return expert * ((own.capacity * chosen + parts - 1) / parts);
}

/// Returns the reason why the options do not fit the input; empty where they do.
std::string fault_of_experts(const Experts& own, const Shape& in) {
  if (in.kind != ShapeKind::sequence)
    return fmt::format("experts needs [sequence, width], not {}", to_string(in));
  if (own.top > own.experts) return fmt::format("top = {} of {} experts", own.top, own.experts);
  if (in.rows() * own.top < own.experts)
    return fmt::format("{} rows x top = {} leave some of {} experts without one", in.rows(), own.top,
                       own.experts);
  const std::int64_t widest = std::max(own.width, own.shared_width);
  if (!bounded_product({own.grouped ? own.experts : 1, in.width(), own.width}) ||
      !bounded_product({in.width(), widest}) || !bounded_product({in.rows(), kMostCapacity, own.top}) ||
      !bounded_product({in.rows(), own.top, widest, own.capacity > 100 ? own.capacity / 100 + 1 : 1}) ||
      !bounded_product({in.rows(), own.experts}))
    return "experts makes a tensor of more than 2^40 elements";
  return "";
}

/// Records the loop of Mixtral's script: each expert gathers its rows, computes, and adds its results.
TensorId record_loop(Tape& tape, const Experts& own, TensorId input, TensorId weights, TensorId sum) {
  const std::int64_t all = tape.at(input).shape.rows();
  // Every expert gathers its rows, so operators and kernels grow with the number of experts.
  for (std::int64_t expert = 0; expert < own.experts; ++expert) {
    const std::int64_t rows = rows_before(own, all, expert + 1) - rows_before(own, all, expert);
    const Perceptron one{fmt::format("experts.{}.", expert), own.width, own.gated};
    const TensorId done = record_perceptron(tape, one, gather_rows(tape, input, rows));
    sum = scatter_rows(tape, sum, record_weighting(tape, done, weights));
  }
  return sum;
}

/// Records all experts at once: one gather of the sorted rows, and grouped products.
TensorId record_at_once(Tape& tape, const Experts& own, TensorId input, TensorId weights, TensorId sum) {
  const TensorId sorted =
      gather_rows(tape, input, rows_before(own, tape.at(input).shape.rows(), own.experts));
  const TensorId done =
      record_grouped_perceptrons(tape, {"experts.", own.width, own.gated}, own.experts, sorted);
  return scatter_rows(tape, sum, record_weighting(tape, done, weights));
}

/// Records the shared experts as one perceptron, and the addition of its result.
TensorId record_shared(Tape& tape, const Experts& own, TensorId input, TensorId sum) {
  TensorId shared = record_perceptron(tape, {"shared.", own.shared_width, own.gated}, input);
  if (own.shared_gate) shared = record_row_gate(tape, input, shared, "shared_gate.");
  const auto n = static_cast<double>(tape.at(sum).shape.elements());
  const TensorId result = tape.result(tape.at(sum).shape, {sum, shared}, false);
  tape.forward(script_pass(OperatorClass::elementwise, HostCall::add, n, 12 * n));
  tape.node({}, {sum, shared}, result);
  return result;
}

// Router, experts and shared experts are recorded in the order in which the script runs them.
Applied apply_experts(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<Experts>();
  const Shape in = tape.at(input).shape;
  if (std::string fault = fault_of_experts(own, in); !fault.empty())
    return misfit(std::move(fault), "every expert takes a row or more of a sequence");
  const TensorId weights = record_router(tape, own, input);
  // The results of the experts are added up in a tensor of zeros.
  const TensorId zeros = record_zeros(tape, in);
  const TensorId sum = own.grouped ? record_at_once(tape, own, input, weights, zeros)
                                   : record_loop(tape, own, input, weights, zeros);
  return {own.shared_width > 0 ? record_shared(tape, own, input, sum) : sum, "", ""};
}

void check_experts(const LayerCheck& check) {
  const auto& own = check.layer.get<Experts>();
  check.range("experts", own.experts, 1, kMostExperts);
  check.range("top", own.top, 1, kMostExperts);
  check.range("width", own.width, 1, kWidestLayer);
  check.range("capacity", own.capacity, 0, kMostCapacity);
  check.range("shared_width", own.shared_width, 0, kWidestLayer);
  if (own.shared_gate && own.shared_width == 0)
    check.faults.push_back({check.layer.span, "experts: shared_gate without shared experts",
                            "give their shared_width, or leave shared_gate out"});
}

/// Returns the number of layers that the experts count as, towards the limit on layers.
std::int64_t parts_of_experts(const Layer& layer) {
  const auto& own = layer.get<Experts>();
  return kPartsOfPerceptron * ((own.grouped ? 1 : own.experts) + (own.shared_width > 0 ? 1 : 0));
}

// The number of experts stays; only their inner widths grow.
void widen_experts(Layer& layer, const Wider& wider) {
  auto& own = layer.edit<Experts>();
  own.width = wider(own.width);
  if (own.shared_width > 0) own.shared_width = wider(own.shared_width);
}

}  // namespace

LayerType experts_layer() {
  using E = Experts;
  return {.name = "experts",
          .keys = {required_key<&E::experts>("experts"), required_key<&E::top>("top"),
                   required_key<&E::width>("width"), layer_key<&E::gated>("gated"),
                   layer_key<&E::grouped>("grouped"), layer_key<&E::capacity>("capacity"),
                   layer_key<&E::shared_width>("shared_width"), layer_key<&E::shared_gate>("shared_gate"),
                   layer_key<&E::balance_bias>("balance_bias")},
          .apply = apply_experts,
          .check = check_experts,
          .parts = parts_of_experts,
          .widening = {.widen = widen_experts}};
}

}  // namespace foretrain

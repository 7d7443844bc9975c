// A mixture of experts as Mixtral runs it: a router chooses `top` of `experts` perceptrons for each row; a
// loop of the script gathers every expert's rows, runs it on them and adds the weighted result to the rows.
//
// Rows are shared out evenly: expert e of E takes those from floor(e R / E) to floor((e + 1) R / E) of the R
// = rows x top chosen ones, so that their sum is exact. Backward of the gathering writes an expert's rows
// into zeros of the whole.
#include <fmt/format.h>

#include "sim/workload/layers/layer_types.hpp"
#include "sim/workload/layers/linear.hpp"
#include "sim/workload/layers/softmax.hpp"

namespace foretrain {
namespace {

constexpr std::int64_t kMostExperts = 1024;
/// One-hot of the choice, its permutation, top-k and the weights' sum and quotient.
constexpr int kRouterOperators = 6;

struct Experts {
  std::int64_t experts = 0, top = 0;
  std::int64_t width = 0;  ///< inside an expert
  bool gated = true;       ///< silu(x a) * (x b), otherwise silu(x a)
};

/// An operator of a script on n elements that reads and writes `bytes`.
Operator pass(OperatorClass cls, HostCall call, double flops, double bytes, int kernels = 1) {
  return make_operator(cls, call, per_sample(flops), per_sample(bytes), kernels);
}

TensorId record_router(Tape& tape, const Experts& own, TensorId input) {
  const TensorId logits = record_linear(tape, input, own.experts, {LinearForm::Bias::none, "router."});
  const TensorId weights = record_softmax(tape, logits);
  const auto n = static_cast<double>(tape.at(weights).shape.elements());
  Operator choice = pass(OperatorClass::elementwise, HostCall::activation, kRouterOperators * n,
                         8 * kRouterOperators * n, kRouterOperators);
  choice.calls = kRouterOperators;
  tape.forward(choice);
  return weights;
}

/// The rows of one expert, found by a search through its column of the choice.
TensorId gather_rows(Tape& tape, TensorId input, std::int64_t rows) {
  const Shape in = tape.at(input).shape;
  const Shape made = Shape::sequence(rows, in.width());
  const auto part = static_cast<double>(made.elements()), whole = static_cast<double>(in.elements());
  const TensorId gathered = tape.result(made, {input}, false);
  tape.forward(
      pass(OperatorClass::copy, HostCall::embedding, 0, 8 * part + 24 * static_cast<double>(rows), 2));
  tape.save(per_sample(16 * static_cast<double>(rows)));
  tape.node({{pass(OperatorClass::embedding, HostCall::embedding, whole, 4 * whole + 12 * part, 2), {}}},
            {input}, gathered);
  return gathered;
}

TensorId record_silu(Tape& tape, TensorId input) {
  const auto n = static_cast<double>(tape.at(input).shape.elements());
  const TensorId result = tape.result(tape.at(input).shape, {input}, false);
  tape.forward(pass(OperatorClass::elementwise, HostCall::activation, n, 8 * n));
  tape.save(input);
  tape.node({{pass(OperatorClass::elementwise, HostCall::activation, 8 * n, 12 * n), {}}}, {input}, result);
  return result;
}

TensorId record_gate(Tape& tape, TensorId gate, TensorId up) {
  const auto n = static_cast<double>(tape.at(gate).shape.elements());
  const TensorId result = tape.result(tape.at(gate).shape, {gate, up}, false);
  tape.forward(pass(OperatorClass::elementwise, HostCall::add, n, 12 * n));
  tape.save(gate), tape.save(up);
  tape.node({{pass(OperatorClass::elementwise, HostCall::add, 2 * n, 24 * n, 2), {}}}, {gate, up}, result);
  return result;
}

/// Times the router's weights, which get a gradient of their own: a product and its sum over the width.
TensorId record_weighting(Tape& tape, TensorId rows, TensorId weights) {
  const Shape shape = tape.at(rows).shape;
  const auto n = static_cast<double>(shape.elements());
  const TensorId result = tape.result(shape, {rows, weights}, false);
  tape.forward(
      pass(OperatorClass::elementwise, HostCall::add, n, 8 * n + 4 * static_cast<double>(shape.rows()), 2));
  tape.save(rows);
  tape.node({{pass(OperatorClass::elementwise, HostCall::add, 3 * n, 24 * n, 3), {}}}, {rows, weights},
            result);
  return result;
}

/// index_add_ into the sum of all experts.
TensorId scatter_rows(Tape& tape, TensorId sum, TensorId rows) {
  const auto n = static_cast<double>(tape.at(rows).shape.elements());
  const TensorId result = tape.alias(tape.at(sum).shape, sum);
  tape.forward(pass(OperatorClass::embedding, HostCall::embedding, n, 12 * n));
  tape.node({{pass(OperatorClass::copy, HostCall::embedding, 0, 8 * n), {}}}, {sum, rows}, result);
  return result;
}

TensorId record_expert(Tape& tape, const Experts& own, TensorId rows, std::int64_t expert) {
  const std::int64_t width = tape.at(rows).shape.width();
  const auto linear = [&](TensorId from, std::int64_t out, std::string_view name) {
    return record_linear(tape, from, out,
                         {LinearForm::Bias::none, fmt::format("experts.{}.{}.", expert, name)});
  };
  TensorId inner = record_silu(tape, linear(rows, own.width, "gate"));
  if (own.gated) inner = record_gate(tape, inner, linear(rows, own.width, "up"));
  return linear(inner, width, "down");
}

std::string fault_of_experts(const Experts& own, const Shape& in) {
  if (in.kind != ShapeKind::sequence)
    return fmt::format("experts needs [sequence, width], not {}", to_string(in));
  if (own.top > own.experts) return fmt::format("top = {} of {} experts", own.top, own.experts);
  if (in.rows() * own.top < own.experts)
    return fmt::format("{} rows x top = {} leave some of {} experts without one", in.rows(), own.top,
                       own.experts);
  if (!bounded_product({in.width(), own.width}) || !bounded_product({in.rows(), own.top, own.width}) ||
      !bounded_product({in.rows(), own.experts}))
    return "experts makes a tensor of more than 2^40 elements";
  return "";
}

Applied apply_experts(Tape& tape, const Layer& layer, TensorId input) {
  const auto& own = layer.get<Experts>();
  const Shape in = tape.at(input).shape;
  if (std::string fault = fault_of_experts(own, in); !fault.empty())
    return misfit(std::move(fault), "every expert takes a row or more of a sequence");
  const TensorId weights = record_router(tape, own, input);
  const auto whole = static_cast<double>(in.elements());
  TensorId sum = tape.result(in, {}, true);
  tape.forward(pass(OperatorClass::elementwise, HostCall::activation, 0, 4 * whole));
  tape.node({}, {}, sum);
  const std::int64_t chosen = in.rows() * own.top;
  for (std::int64_t expert = 0; expert < own.experts; ++expert) {
    const std::int64_t rows = (expert + 1) * chosen / own.experts - expert * chosen / own.experts;
    const TensorId done = record_expert(tape, own, gather_rows(tape, input, rows), expert);
    sum = scatter_rows(tape, sum, record_weighting(tape, done, weights));
  }
  return {sum, "", ""};
}

void check_experts(const LayerCheck& check) {
  const auto& own = check.layer.get<Experts>();
  check.range("experts", own.experts, 1, kMostExperts);
  check.range("top", own.top, 1, kMostExperts);
  check.range("width", own.width, 1, kWidestLayer);
}

std::int64_t parts_of_experts(const Layer& layer) { return 4 * layer.get<Experts>().experts; }

void widen_experts(Layer& layer, const Wider& wider) {
  auto& own = layer.edit<Experts>();
  own.width = wider(own.width);
}

}  // namespace

LayerType experts_layer() {
  return {.name = "experts",
          .keys = {required_key<&Experts::experts>("experts"), required_key<&Experts::top>("top"),
                   required_key<&Experts::width>("width"), layer_key<&Experts::gated>("gated")},
          .apply = apply_experts,
          .check = check_experts,
          .parts = parts_of_experts,
          .widening = {.widen = widen_experts}};
}

}  // namespace foretrain

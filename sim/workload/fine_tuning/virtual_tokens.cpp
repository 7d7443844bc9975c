// Virtual tokens as PEFT 0.18 runs them (peft/tuners/prompt_tuning/model.py, p_tuning/model.py,
// prefix_tuning/model.py, peft_model.py: get_prompt). The vectors are looked up once for each sample of the
// batch.
//
// prompt: v rows of a table. p_tuning: the same through three linear layers with ReLU between them. prefix: a
// table with 2 v rows of the keys' width for each layer. With an encoder it is v rows of the network's width
// through two linear layers with tanh between them, whose last one has the columns of all layers.
#include "sim/workload/fine_tuning/virtual_tokens.hpp"

#include <fmt/format.h>

#include "sim/workload/layers/linear.hpp"

namespace foretrain {

namespace {

/// Records the lookup of all rows of a trained table, whose gradient has as many.
TensorId record_table(Tape& tape, std::int64_t rows, std::int64_t width, std::string_view name) {
  const auto n = static_cast<double>(rows * width), ids = static_cast<double>(rows);
  const std::uint32_t weight = tape.parameter(name, rows * width);
  const TensorId made = tape.result(Shape::sequence(rows, width), {}, true);
  const Amount moved{0, 8 * ids + 8 * n};
  tape.forward(make_operator(OperatorClass::embedding, HostCall::embedding, per_sample(n), moved));
  tape.save(per_sample(8 * ids));
  const Operator gradient =
      make_operator(OperatorClass::embedding, HostCall::embedding, {n, 0}, {4 * n, moved.per_sample}, 2);
  tape.node({{gradient, {weight}}}, {}, made);
  return made;
}

/// Records ReLU or tanh; backward reads the result.
TensorId record_encoder_activation(Tape& tape, TensorId input) {
  const Shape shape = tape.at(input).shape;
  const auto n = static_cast<double>(shape.elements());
  const auto pass = [n](double bytes) {
    return make_operator(OperatorClass::elementwise, HostCall::activation, per_sample(n),
                         per_sample(bytes * n));
  };
  const TensorId made = tape.result(shape, {input}, false);
  tape.forward(pass(8));
  tape.save(made);
  tape.node({{pass(12), {}}}, {input}, made);
  return made;
}

TensorId record_encoder_layer(Tape& tape, TensorId input, std::int64_t out, std::string_view name) {
  return record_linear(tape, input, out, {LinearForm::Bias::fused, name});
}

/// Records the concatenation of two tensors: a copy of both, and backward a copy of each part.
TensorId record_join(Tape& tape, TensorId first, TensorId second) {
  const Shape a = tape.at(first).shape, b = tape.at(second).shape;
  const Shape both = Shape::sequence(a.rows() + b.rows(), b.width());
  const auto n = static_cast<double>(both.elements());
  const TensorId made = tape.result(both, {first, second}, false);
  const Operator copy = make_operator(OperatorClass::copy, HostCall::concat, {}, per_sample(8 * n));
  tape.forward(copy);
  tape.node({{copy, {}}}, {first, second}, made);
  return made;
}

/// True, with a failure of the tape, where a tensor of these sizes would be too large.
bool is_too_long(Tape& tape, std::int64_t rows, std::int64_t width) {
  if (bounded_product({rows, width})) return false;
  tape.fail("the virtual tokens make a tensor of more than 2^40 elements", "use fewer of them");
  return true;
}

}  // namespace

TensorId record_virtual_tokens(Tape& tape, TensorId words) {
  const FineTuning& tuning = tape.trainability().tuning();
  const std::int64_t tokens = tuning.virtual_tokens, width = tape.at(words).shape.width();
  const bool has_encoder = tuning.adapter == AdapterKind::prefix && tuning.encoder_width > 0;
  const bool lengthens = tuning.adapter == AdapterKind::prompt || tuning.adapter == AdapterKind::p_tuning;
  if (!lengthens && !has_encoder) return words;
  // The width of p_tuning's encoder is that of the embedding unless it is given.
  const std::int64_t hidden = tuning.encoder_width > 0 ? tuning.encoder_width : width;
  if (is_too_long(tape, tokens + tape.at(words).shape.rows(), width) || is_too_long(tape, hidden, hidden) ||
      is_too_long(tape, hidden, std::max(width, tokens)))
    return words;
  tape.begin_adapter();
  TensorId rows = record_table(tape, tokens, width, "prompt_encoder.embedding.weight");
  if (tuning.adapter == AdapterKind::p_tuning) {
    rows = record_encoder_activation(tape, record_encoder_layer(tape, rows, hidden, "prompt_encoder.0."));
    rows = record_encoder_activation(tape, record_encoder_layer(tape, rows, hidden, "prompt_encoder.2."));
    rows = record_encoder_layer(tape, rows, width, "prompt_encoder.4.");
  }
  if (has_encoder) {
    rows = record_encoder_activation(tape, record_encoder_layer(tape, rows, hidden, "prompt_encoder.0."));
    tape.name("prefix encoder", rows);
  }
  const TensorId made = lengthens ? record_join(tape, rows, words) : words;
  tape.end_adapter();
  return made;
}

TensorId record_prefix(Tape& tape, TensorId rows, std::string_view name) {
  const std::int64_t tokens = tape.trainability().tuning().virtual_tokens;
  const Shape shape = tape.at(rows).shape;
  if (is_too_long(tape, tokens + shape.rows(), shape.width())) return rows;
  tape.begin_adapter();
  const std::vector<TensorId>* encoded = tape.named("prefix encoder");
  const TensorId trained =
      encoded == nullptr
          ? record_table(tape, tokens, shape.width(), fmt::format("prefix_{}", name))
          : record_encoder_layer(tape, encoded->back(), shape.width(), fmt::format("prefix_{}.", name));
  const TensorId made = record_join(tape, trained, rows);
  tape.end_adapter();
  return made;
}

}  // namespace foretrain

// Samples divided into parts, for networks whose batch counts tokens of an input instead of inputs.
#include "sim/workload/layers/shared_weights.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {
namespace {

void divide(Amount& amount, double parts) { amount.per_sample /= parts; }

// The size that the batch multiplies is divided too, so that products stay those of one sample.
void divide(Operator& op, double parts) {
  divide(op.flops, parts), divide(op.bytes, parts), divide(op.visits, parts);
  for (Product& product : op.products) {
    if (double* grown = grown_size(product)) *grown /= parts;
    divide(product.bytes, parts);
  }
}

/// Divides and rounds up.
std::int64_t divided_up(std::int64_t elements, std::int64_t parts) { return (elements + parts - 1) / parts; }

}  // namespace

// Fixed amounts stay: they are those of weights and of the step.
void divide_sample(ExpandedModel& model, std::int64_t parts) {
  const auto n = static_cast<double>(parts);
  for (Operator& op : model.forward) divide(op, n);
  for (BackwardStep& step : model.backward) divide(step.op, n);
  for (LayerTrace& trace : model.layer_traces) divide(trace.saved_bytes, n);
  for (Lifetime& life : model.lifetimes.activations) divide(life.bytes, n);
  divide(model.saved_bytes, n);
  model.input_elements = divided_up(model.input_elements, parts);
  model.largest_activation_elements = divided_up(model.largest_activation_elements, parts);
}

}  // namespace foretrain

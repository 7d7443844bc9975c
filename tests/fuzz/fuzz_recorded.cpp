// Fuzz target: recorded networks from any bytes; one without mistakes has finite work, indices within their
// lists and lifetimes within the step.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/recorded/expand_recorded.hpp"
#include "tests/fuzz/require.hpp"

namespace recorded_checks {

using foretrain::test::require;

void check_operator(const foretrain::Operator& op, const foretrain::ExpandedModel& model) {
  require(op.layer < model.layer_names.size());
  require(op.product_count <= op.products.size());
  for (const double batch : {1.0, 1000.0}) {
    require(std::isfinite(op.flops.at(batch)) && op.flops.at(batch) >= 0);
    require(std::isfinite(op.bytes.at(batch)) && op.bytes.at(batch) >= 0);
  }
}

void check(const foretrain::ExpandedModel& model) {
  for (const foretrain::Operator& op : model.forward) check_operator(op, model);
  std::vector<bool> ready(model.parameters.size(), false);
  for (const foretrain::BackwardStep& step : model.backward) {
    check_operator(step.op, model);
    for (const std::uint32_t parameter : step.ready) {
      require(parameter < ready.size() && !ready[parameter]);
      ready[parameter] = true;
    }
  }
  for (const bool one : ready) require(one);
  for (const foretrain::Lifetime& life : model.lifetimes.activations)
    require(life.from <= life.until && life.until < model.lifetimes.moments);
  for (const foretrain::Lifetime& life : model.lifetimes.parameter_gradients)
    require(life.until < model.lifetimes.moments);
  peak_bytes(model.lifetimes, 8, foretrain::ActivationWidth::autocast, foretrain::GradientTensors::made_anew);
}

}  // namespace recorded_checks

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const foretrain::SourceText source{
      "fuzz.toml", "[recorded]\nformat = 1\n" + std::string(reinterpret_cast<const char*>(data), size)};
  foretrain::Diagnostics diagnostics(source);
  const foretrain::ModelFile file = read_model_file(source, diagnostics);
  if (!diagnostics.empty()) {
    foretrain::test::require(!format(diagnostics.found()).empty());
    return 0;
  }
  if (file.model.is_recorded) recorded_checks::check(file.expanded);
  return 0;
}

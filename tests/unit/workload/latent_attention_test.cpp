// Multi-head latent attention: its weights, products and what its keys share.
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/expanded_layers.hpp"

namespace latent_attention_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

/// Heads of 3 plain and 2 turned elements, values of 4.
Layer latent(std::int64_t query_rank) {
  Layer layer = plain("latent_attention");
  set(layer, "heads", 4), set(layer, "kv_rank", 8);
  set(layer, "plain", 3), set(layer, "rotary", 2), set(layer, "value", 4);
  if (query_rank > 0) set(layer, "query_rank", query_rank);
  return layer;
}

double attention_flops(const ExpandedModel& model, bool backward) {
  double sum = 0;
  if (!backward)
    for (const Operator& op : model.forward)
      sum += op.cls == OperatorClass::attention ? op.flops.per_sample : 0;
  if (backward)
    for (const BackwardStep& step : model.backward)
      sum += step.op.cls == OperatorClass::attention ? step.op.flops.per_sample : 0;
  return sum;
}

/// Its narrow rows, keys and values, and output; without queries.
constexpr std::int64_t kKeysAndValues = 16 * (8 + 2) + 8 + 8 * 4 * (3 + 4), kOutput = 4 * 4 * 16;

}  // namespace

TEST_CASE("latent attention has a narrow row for keys and values, and one for queries where it has a rank") {
  CHECK(expanded({6, 16}, {latent(0)}).parameter_elements() == 16 * 4 * 5 + kKeysAndValues + kOutput);
  CHECK(expanded({6, 16}, {latent(12)}).parameter_elements() ==
        16 * 12 + 12 + 12 * 4 * 5 + kKeysAndValues + kOutput);
}

TEST_CASE("every weight of latent attention gets its gradient, once") {
  const ExpandedModel model = expanded({6, 16}, {latent(12)});
  CHECK(model.gradient_ready_order().size() == model.parameters.size());
}

TEST_CASE("scores of latent attention are over plain and turned elements, its context over values") {
  const double pairs = 4. * 6 * 6;
  const ExpandedModel eager = expanded({6, 16}, {latent(12)});
  CHECK(attention_flops(eager, false) == 2 * pairs * 5 + 2 * pairs * 4);
  CHECK(attention_flops(eager, true) == 2 * attention_flops(eager, false));
}

TEST_CASE("the fused kernel of latent attention makes the scores again, and half of all when causal") {
  const double pairs = 4. * 6 * 6;
  Layer layer = latent(12);
  set(layer, "fused", true), set(layer, "causal", true);
  const ExpandedModel model = expanded({6, 16}, {layer});
  CHECK(attention_flops(model, false) == pairs * 5 + pairs * 4);
  // Scores twice over keys once over values; queries and keys over 5, values over 4.
  CHECK(attention_flops(model, true) == pairs * (3 * 5 + 2 * 4));
  for (const BackwardStep& step : model.backward) {
    double products = 0;
    for (int i = 0; i < step.op.product_count; ++i)
      products += step.op.products[static_cast<std::size_t>(i)].flops_per_sample();
    if (step.op.cls == OperatorClass::attention) CHECK(products == Approx(step.op.flops.per_sample));
  }
}

TEST_CASE("latent attention asks for a sequence and for its sizes") {
  std::vector<Layer> layers{latent(0), plain("loss")};
  const ExpansionResult image = expand({"small", "", {3, 4, 4}, false, layers});
  REQUIRE_FALSE(image.faults.empty());
  CHECK_THAT(image.faults[0].message, ContainsSubstring("latent_attention needs [sequence, width]"));
  Layer bare = plain("latent_attention");
  set(bare, "heads", 4);
  CHECK(check_layer(bare).size() == 4);
}

}  // namespace latent_attention_test

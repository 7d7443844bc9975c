// Mixtures of experts: all at once, with a capacity, with experts that every row passes, with a balanced
// choice.
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/expanded_layers.hpp"

namespace experts_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

Layer four_experts() {
  Layer layer = plain("experts");
  set(layer, "experts", 4), set(layer, "top", 2), set(layer, "width", 24);
  return layer;
}

constexpr std::int64_t kRouter = 16 * 4, kExpert = 3 * 16 * 24;

double products(const ExpandedModel& model) { return model.forward_gemm_flops().per_sample; }

}  // namespace

TEST_CASE("grouped experts have the work of single ones in a kernel a product") {
  Layer layer = four_experts();
  const ExpandedModel loop = expanded({6, 16}, {layer}), behind = expanded({6, 16}, {linear(16), layer});
  set(layer, "grouped", true);
  const ExpandedModel grouped = expanded({6, 16}, {layer}),
                      grouped_behind = expanded({6, 16}, {linear(16), layer});
  CHECK(grouped.parameter_elements() == kRouter + 4 * kExpert);
  CHECK(loop.parameter_elements() == grouped.parameter_elements());
  CHECK(products(grouped) == products(loop));
  // The loop adds the gradients of the router's 6 x 4 weights, and behind another layer those of its four
  // gatherings, each of which is written into zeros of the whole.
  const double weights = 3. * 6 * 4;
  CHECK(loop.backward_flops().per_sample - grouped.backward_flops().per_sample == weights);
  CHECK(behind.backward_flops().per_sample - grouped_behind.backward_flops().per_sample ==
        weights + 2 * 3. * 6 * 16);
  CHECK(loop.parameters.size() == 1 + 4 * 3);
  CHECK(grouped.parameters.size() == 1 + 3);
  CHECK(grouped.gradient_ready_order().size() == grouped.parameters.size());
}

TEST_CASE("a grouped product is as many products as there are experts, and reads all their weights") {
  Layer layer = four_experts();
  set(layer, "grouped", true);
  const ExpandedModel model = expanded({6, 16}, {layer});
  int grouped = 0;
  for (const Operator& op : model.forward) {
    if (op.cls != OperatorClass::gemm || op.products[0].count != 4) continue;
    ++grouped;
    CHECK(op.products[0].m == 3);
    CHECK(op.bytes.fixed == 4 * 4 * 16 * 24);
    CHECK(op.products[0].flops_per_sample() == op.flops.per_sample);
  }
  CHECK(grouped == 3);
}

TEST_CASE("experts with a capacity take as many rows each, zeros among them") {
  Layer layer = four_experts();
  const double even = products(expanded({6, 16}, {layer})) - 2. * 6 * kRouter;
  set(layer, "capacity", 150);
  // 12 chosen rows, 3 for each of 4; half as many more are 4.5, so 5.
  CHECK(products(expanded({6, 16}, {layer})) - 2. * 6 * kRouter == even * 5 / 3);
  set(layer, "grouped", true);
  CHECK(products(expanded({6, 16}, {layer})) - 2. * 6 * kRouter == even * 5 / 3);
}

TEST_CASE("shared experts see every row") {
  Layer layer = four_experts();
  const ExpandedModel bare = expanded({6, 16}, {layer});
  set(layer, "shared_width", 10);
  const ExpandedModel shared = expanded({6, 16}, {layer});
  CHECK(shared.parameter_elements() - bare.parameter_elements() == 3 * 16 * 10);
  CHECK(products(shared) - products(bare) == 2. * 6 * 3 * 16 * 10);
  set(layer, "shared_gate", true);
  CHECK(expanded({6, 16}, {layer}).parameter_elements() - shared.parameter_elements() == 16);
}

TEST_CASE("a balancing bias is a vector of the network that nothing trains") {
  Layer layer = four_experts();
  set(layer, "balance_bias", true);
  const ExpandedModel model = expanded({6, 16}, {layer});
  CHECK(model.parameter_elements() == kRouter + 4 * kExpert);
  CHECK(model.frozen_elements() == 4);
}

TEST_CASE("experts say what does not go together") {
  Layer layer = four_experts();
  set(layer, "shared_gate", true);
  REQUIRE(check_layer(layer).size() == 1);
  CHECK_THAT(check_layer(layer)[0].message, ContainsSubstring("shared_gate without shared experts"));
  Layer roomy = four_experts();
  set(roomy, "capacity", 1001);
  CHECK_THAT(check_layer(roomy)[0].message, ContainsSubstring("capacity = 1001 is out of range"));
}

}  // namespace experts_test

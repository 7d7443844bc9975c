// A network written from sizes has these sizes.
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/transformer/shape.hpp"
#include "tests/support/catch.hpp"

namespace network_of_shape_test {

using namespace foretrain;

namespace {

TransformerShape llama() {
  TransformerShape shape;
  shape.layers = 3, shape.hidden = 512, shape.heads = 8, shape.kv_heads = 2, shape.head_dim = 64;
  shape.inner = 1408, shape.vocabulary = 1000, shape.sequence = 128;
  return shape;
}

TransformerShape gpt() {
  TransformerShape shape = llama();
  shape.kv_heads = 8, shape.gated = false, shape.bias = true, shape.tied = true, shape.positions = 128;
  return shape;
}

TransformerShape qwen3() {
  TransformerShape shape = llama();
  shape.head_norms = true;
  return shape;
}

}  // namespace

TEST_CASE("the shape is recognised in the network that is written from it") {
  for (const TransformerShape& shape : {llama(), gpt(), qwen3()}) {
    const std::optional<Model> network = network_of(shape, shape.sequence, Positions::rotary);
    REQUIRE(network);
    const RecognizedTransformer seen = recognize_transformer(*network);
    INFO(seen.why_not);
    REQUIRE(seen.shape);
    CHECK(*seen.shape == shape);
    const ExpansionResult expansion = expand(*network);
    REQUIRE(expansion.faults.empty());
    CHECK(expansion.model.parameter_elements() == parameters_of(shape).total);
  }
}

TEST_CASE("slopes by distance have no parameters, and rotary positions none either") {
  for (const Positions positions : {Positions::rotary, Positions::alibi}) {
    const ExpansionResult expansion = expand(*network_of(llama(), 64, positions));
    REQUIRE(expansion.faults.empty());
    CHECK(expansion.model.parameter_elements() == parameters_of(llama()).total);
  }
}

TEST_CASE("there is no plain network of experts or latent attention") {
  TransformerShape experts = llama(), latent = llama();
  experts.experts = ExpertLayers{}, latent.latent = LatentAttention{};
  CHECK(!network_of(experts, 128, Positions::rotary));
  CHECK(!network_of(latent, 128, Positions::rotary));
}

}  // namespace network_of_shape_test

// What a DataParallel wraps: the network without its losses, or its layers one by one.
#include <numeric>

#include "sim/strategy/replicas/data_parallel_steps.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace wrapped_module_test {

using namespace foretrain;

namespace {

ExpandedModel expanded(const Model& model) { return expand(model).model; }

}  // namespace

TEST_CASE("the wrapped network and the losses share out the operators") {
  const ExpandedModel model = expanded(test::resnet18());
  const WrappedModule network = wrap_network(model), losses = losses_of(model);
  CHECK(network.forward.size() + losses.forward.size() == model.forward.size());
  CHECK(network.backward.size() + losses.backward.size() == model.backward.size());
  CHECK(losses.forward.size() == 2);  // log-softmax and the likelihood
  CHECK(network.parameters.size() == 62);
  CHECK(network.float_buffers.size() == 40);  // mean and variance of 20 norms
  CHECK(network.integer_buffers.size() == 20);
  CHECK(network.buffers() == 60);
}

TEST_CASE("the network's output is what the loss takes") {
  CHECK(wrap_network(expanded(test::resnet18())).output_elements == 1000);
  CHECK(wrap_network(expanded(test::mnist_net())).output_elements == 10);
}

TEST_CASE("layers are wrapped one by one without losses and views, and keep their parameters") {
  const ExpandedModel model = expanded(test::mnist_net());
  const std::vector<WrappedModule> layers = wrap_layers(model);
  // conv, relu, conv, relu, max_pool, dropout, linear, relu, dropout, linear; not flatten, not loss.
  REQUIRE(layers.size() == 10);
  std::vector<std::size_t> parameters;
  for (const WrappedModule& layer : layers) parameters.push_back(layer.parameters.size());
  CHECK(parameters == std::vector<std::size_t>{2, 0, 2, 0, 0, 0, 2, 0, 0, 2});
  CHECK(layers.front().output_elements == 32 * 26 * 26);
  CHECK(layers.back().output_elements == 10);
  for (const WrappedModule& layer : layers) CHECK(layer.modules == 1);
}

TEST_CASE("the layers of a residual network have all its parameters, buffers and operators once") {
  const ExpandedModel model = expanded(test::resnet18());
  std::size_t parameters = 0, buffers = 0, forward = 0, backward = 0;
  for (const WrappedModule& layer : wrap_layers(model)) {
    parameters += layer.parameters.size(), buffers += layer.buffers();
    forward += layer.forward.size(), backward += layer.backward.size();
    if (layer.buffers() > 0) CHECK(layer.parameters.size() == 2);  // a norm: weight and bias
  }
  const WrappedModule network = wrap_network(model);
  CHECK(parameters == 62);
  CHECK(buffers == 60);
  CHECK(forward == network.forward.size());
  CHECK(backward == network.backward.size());
}

}  // namespace wrapped_module_test

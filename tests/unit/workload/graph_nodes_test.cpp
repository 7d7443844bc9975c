// TensorFlow's graph around the network: what is counted beside each operator.
#include "sim/workload/lowering/graph_nodes.hpp"

#include "sim/workload/tape/tape.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_models.hpp"

namespace graph_nodes_test {

using namespace foretrain;

namespace {

int kernels_beside(const ExpandedModel& model) {
  int kernels = 0;
  for (const Operator& op : model.forward) kernels += nodes_beside(op).kernels;
  return kernels;
}

std::vector<std::string> penalised(const ExpandedModel& model) {
  std::vector<std::string> names;
  for (std::uint32_t i = 0; i < model.parameters.size(); ++i) {
    if (is_penalised(model, i)) names.push_back(model.parameters[i].name);
  }
  return names;
}

}  // namespace

TEST_CASE("a batch normalization reads four variables and moves two averages by three kernels each") {
  const ExpandedModel resnet = expand(test::resnet18()).model;
  CHECK(kernels_beside(resnet) == 20 * 6);  // 20 batch normalizations
  for (const Operator& op : resnet.forward) {
    if (op.call != HostCall::batch_norm) continue;
    CHECK(nodes_beside(op).bare == 4);
    CHECK(op.channels == 64);
    CHECK(nodes_beside(op).bytes ==
          Bytes{12 * 64 + 8});  // read the average and the new value, write; the count
    break;
  }
  for (const BackwardStep& step : resnet.backward) CHECK(nodes_beside(step.op).kernels == 0);
}

TEST_CASE("an L2 term covers the weights of convolutions and linear layers, not biases or normalization") {
  const ExpandedModel resnet = expand(test::resnet18()).model;
  CHECK(penalised(resnet).size() == 21);  // 20 convolutions, one linear layer
  CHECK(penalised(expand(test::mnist_net()).model).size() == 4);
}

TEST_CASE("the call of a graph is handed weights, slots and moving averages") {
  const ExpandedModel resnet = expand(test::resnet18()).model;
  CHECK(captured_variables(resnet, {OptimizerKind::sgd}) == 62 + 40);
  CHECK(captured_variables(resnet, {OptimizerKind::momentum}) == 2 * 62 + 40);
  CHECK(captured_variables(resnet, {OptimizerKind::adam}) == 3 * 62 + 40);
}

}  // namespace graph_nodes_test

// DataParallel around every layer: activations travel to GPU 0 and back between two layers.
#include "sim/strategy/replicas/data_parallel.hpp"
#include "sim/strategy/replicas/data_parallel_steps.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace data_parallel_layers_test {

using namespace foretrain;
using test::plan_of;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

SmallPlan on(int gpus, const Model& model = test::mnist_net()) {
  SmallPlan small(model);
  small.spec = test::pcie_cluster(1, 4);
  small.gpus = gpus;
  small.workload.data.loader = LoaderKind::none;
  small.workload.framework.version = {2, 0};
  small.steps = 3;
  return small;
}

std::int64_t bytes_of(const Plan& plan, TaskKind kind, std::string_view label) {
  std::int64_t sum = 0;
  for (const TaskId id : tasks_labelled(plan.graph, kind, label)) sum += plan.graph.tasks()[id].traffic.count;
  return sum / 3;
}

}  // namespace

TEST_CASE("each layer broadcasts its own parameters and sums their gradients") {
  const Plan plan = plan_of(on(2), "data_parallel_layers");
  // Four layers of the ten have parameters, each less than 10 MiB.
  CHECK(tasks_labelled(plan.graph, TaskKind::collective, "broadcast of parameters").size() == 3 * 4);
  CHECK(bytes_of(plan, TaskKind::collective, "broadcast of parameters") == 4 * 1'199'882);
  CHECK(bytes_of(plan, TaskKind::collective, "reduce of gradients") == 4 * 1'199'882);
  REQUIRE(plan.buckets.size() == 4);
  CHECK(plan.buckets.front().count == 4 * 1'290);  // backward begins with the last layer
  CHECK(plan.buckets.back().count == 4 * 320);
}

TEST_CASE("every layer's input leaves GPU 0 and every output returns, forward and backward") {
  const Plan plan = plan_of(on(4), "data_parallel_layers");
  const auto layers = wrap_layers(expand(test::mnist_net()).model);
  std::int64_t outputs = 0, inputs = 28 * 28 * 4 + 8, returned = 0;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    outputs += 4 * layers[i].output_elements;
    if (i + 1 < layers.size())
      inputs += 4 * layers[i].output_elements, returned += 4 * layers[i].output_elements;
  }
  CHECK(bytes_of(plan, TaskKind::copy, "scatter of inputs") == 3 * 64 * inputs);  // to three other GPUs
  CHECK(bytes_of(plan, TaskKind::copy, "gather of outputs") == 3 * 64 * outputs);
  // Gradients of outputs go out, gradients of inputs come back, but for the network's own input.
  CHECK(bytes_of(plan, TaskKind::copy, "scatter of output gradients") == 3 * 64 * (outputs + returned));
}

TEST_CASE("threads start once per layer and GPU") {
  const Plan plan = plan_of(on(4), "data_parallel_layers");
  CHECK(tasks_labelled(plan.graph, TaskKind::host, "start of threads").size() == 3u * 10 * 4);
}

TEST_CASE("it is slower than one DataParallel around the whole network") {
  for (const int gpus : {2, 4}) {
    CHECK(run_plan(on(gpus, test::resnet18()), "data_parallel_layers").last_step_s() >
          run_plan(on(gpus, test::resnet18()), "data_parallel").last_step_s());
  }
}

TEST_CASE("on one GPU each layer costs its own device check and scatter") {
  SmallPlan small = on(1);
  small.spec.node.host.slowdown = 50;
  const double extra =
      run_plan(small, "data_parallel_layers").last_step_s() - run_plan(small, "single").last_step_s();
  // 8 tensors at 0.78 us, ten layers at 36 us.
  CHECK(extra == Approx((8 * 0.78 + 10 * 36) * 1e-6 * 50).epsilon(1e-6));
}

TEST_CASE("GPU 0 holds the gathered outputs of all layers") {
  const Plan plan = plan_of(on(2), "data_parallel_layers");
  std::int64_t outputs = 2 * 10;  // of the loss
  for (const WrappedModule& layer : wrap_layers(expand(test::mnist_net()).model))
    outputs += layer.output_elements;
  CHECK(plan.memory.per_sample.count == 2 * 4 * outputs + 28 * 28 * 4 + 8);
}

}  // namespace data_parallel_layers_test

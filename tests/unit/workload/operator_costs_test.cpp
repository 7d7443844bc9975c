// Known costs are those that are computed anew.
#include "sim/workload/device/operator_costs.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"
#include "tests/support/test_models.hpp"

namespace operator_costs_test {

using namespace foretrain;

namespace {

struct Priced {
  Workload workload;
  Gpu gpu = test::v100();
  Host host;
  KernelCalibration kernels = default_kernel_calibration(gpu);
  HostCalibration calls;
  OperatorCosts costs;

  explicit Priced(Framework framework = {}) : workload(workload_in(framework)), costs(workload, gpu) {
    costs.use(kernels, calls);
  }

  static Workload workload_in(Framework framework) {
    Workload workload;
    workload.model = std::make_shared<const ExpandedModel>(expand(test::resnet18()).model);
    workload.precision = Precision::amp_fp16, workload.framework = framework;
    return workload;
  }

  /// Whether every operator costs on `batch` samples what the formulas say, to the picosecond.
  bool agrees(std::int64_t batch) {
    const KernelContext context{gpu, kernels, workload.precision, workload.framework, workload.half_weights};
    const auto agrees = [&](const Operator& op) {
      const OperatorCosts::Cost& known = costs.at(costs.number_of(op), batch);
      return seconds(known.kernel_s * kernels.time_scale) == kernel_time(op, context, batch) &&
             on_host(known.host, host, calls) ==
                 host_time(op, host, calls, workload.precision, workload.framework);
    };
    bool all = true;
    for (const Operator& op : workload.model->forward) all = all && agrees(op);
    for (const BackwardStep& step : workload.model->backward) all = all && agrees(step.op);
    return all;
  }
};

}  // namespace

TEST_CASE("every operator of a network has a number of its own") {
  Priced priced;
  const ExpandedModel& model = *priced.workload.model;
  REQUIRE(priced.costs.size() == model.forward.size() + model.backward.size());
  CHECK(priced.costs.number_of(model.forward[0]) == 0);
  CHECK(priced.costs.number_of(model.forward[1]) == 1);
  CHECK(priced.costs.number_of(model.backward[0].op) == model.forward.size());
}

TEST_CASE("known costs times the scales are the formulas' times, for one batch after the other") {
  Priced priced;
  CHECK(priced.agrees(32));
  CHECK(priced.agrees(7));
  CHECK(priced.agrees(32));
}

TEST_CASE("scales may change without anything being computed anew") {
  Priced priced;
  CHECK(priced.agrees(32));
  priced.kernels.time_scale = 1.37, priced.calls.time_scale = 0.71, priced.host.slowdown = 2.2;
  const double* first = &priced.costs.at(0, 32).kernel_s;
  const double before = *first;
  priced.costs.use(priced.kernels, priced.calls);
  CHECK(*first == before);
  CHECK(priced.agrees(32));
}

TEST_CASE("other constants make other costs") {
  Priced priced;
  CHECK(priced.agrees(32));
  priced.kernels.minimum = microseconds(5), priced.calls.launch = microseconds(9);
  priced.costs.use(priced.kernels, priced.calls);
  CHECK(priced.agrees(32));
}

TEST_CASE("a graph's executor and captured graphs have their own host costs") {
  CHECK(Priced({FrameworkKind::tensorflow, Execution::graph, {}, {}}).agrees(32));
  CHECK(Priced({FrameworkKind::pytorch, Execution::compiled, {}, {}}).agrees(32));
  CHECK(Priced({FrameworkKind::pytorch, Execution::cuda_graphs, {}, {}}).agrees(32));
}

}  // namespace operator_costs_test

// MultiWorkerMirroredStrategy: one process per node, packs by size, NCCL or the ring over gRPC.
#include "sim/strategy/replicas/mirrored.hpp"
#include "sim/strategy/replicas/replica_options.hpp"
#include "sim/strategy/replicas/sums_over_replicas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace multi_worker_mirrored_test {

using namespace foretrain;
using test::plan_of;
using test::run_plan;
using test::SmallPlan;
using test::tasks_labelled;

namespace {

/// TensorFlow on nodes of four GPUs.
SmallPlan on(int gpus, const Model& model = test::mnist_net()) {
  SmallPlan small(model);
  small.spec = test::pcie_cluster(4, 4);
  small.gpus = gpus;
  small.workload.framework = usual_framework(FrameworkKind::tensorflow);
  small.workload.optimizer.form = OptimizerForm::variable;
  return small;
}

SmallPlan over_grpc(int gpus, const Model& model = test::mnist_net()) {
  SmallPlan small = on(gpus, model);
  small.knobs.edit<ReplicaOptions>().cross_device_ops = CrossDeviceOps::ring;
  return small;
}

std::vector<TaskId> sums(const Plan& plan) {
  return tasks_labelled(plan.graph, TaskKind::collective, "all_reduce");
}

}  // namespace

TEST_CASE("one GPU has no worker to talk to: the plan is the plain loop's") {
  const Plan plan = plan_of(on(1), "multi_worker_mirrored");
  CHECK(plan.graph.tasks().size() == plan_of(on(1), "single").graph.tasks().size());
  CHECK(plan.buckets.empty());
}

TEST_CASE("inside one node it runs as MirroredStrategy does") {
  CHECK(run_plan(on(4), "multi_worker_mirrored").last_step_s() == run_plan(on(4), "mirrored").last_step_s());
}

TEST_CASE("over two nodes one sum is over all GPUs, and the process issues for its own four") {
  const Plan plan = plan_of(on(8), "multi_worker_mirrored");
  REQUIRE(sums(plan).size() == 5);
  CHECK(plan.graph.tasks()[sums(plan)[0]].traffic.count == 4 * 1'199'882);
  SmallPlan four = on(4), eight = on(8);
  four.spec.node.host.slowdown = eight.spec.node.host.slowdown = 100;  // so that the host is all that counts
  CHECK(run_plan(eight, "multi_worker_mirrored").last_step_s() ==
        Approx(run_plan(four, "multi_worker_mirrored").last_step_s()).epsilon(0.02));
}

TEST_CASE("with bytes_per_pack the first pack goes while backward runs") {
  SmallPlan small = on(8, test::resnet18());
  small.knobs.edit<MultiWorkerMirroredOptions>().bytes_per_pack = {8 << 20};
  const test::Ran ran = run_plan(small, "multi_worker_mirrored");
  REQUIRE(ran.plan.buckets.size() > 2);
  for (std::size_t i = 0; i + 1 < ran.plan.buckets.size(); ++i) CHECK(ran.plan.buckets[i].count > 8 << 20);
  // The first is on its way before the last is even concatenated.
  const auto concatenated = tasks_labelled(ran.plan.graph, TaskKind::kernel, "concatenation of gradients");
  CHECK(ran.timeline.spans[sums(ran.plan)[0]].start <
        ran.timeline.spans[concatenated[ran.plan.buckets.size() - 1]].start);
}

TEST_CASE("packs that overlap backward make a shorter step than one that cannot") {
  SmallPlan one = on(8, test::vgg16()), many = on(8, test::vgg16());
  many.knobs.edit<MultiWorkerMirroredOptions>().bytes_per_pack = {16 << 20};
  CHECK(run_plan(many, "multi_worker_mirrored").last_step_s() <
        run_plan(one, "multi_worker_mirrored").last_step_s());
}

TEST_CASE("the ring over gRPC goes down to host memory and up again") {
  const Plan plan = plan_of(over_grpc(8), "multi_worker_mirrored");
  const auto staged = tasks_labelled(plan.graph, TaskKind::copy, "gradients through host memory");
  REQUIRE(staged.size() == 2u * 5);
  CHECK(plan.graph.tasks()[staged[0]].traffic.count == 4 * 1'199'882);
  CHECK(plan.graph.pattern(plan.graph.tasks()[staged[0]].pattern).size() == 4);  // each of the node's GPUs
  CHECK(sums(plan).size() == 5);
}

TEST_CASE("over gRPC the step is longer than over NCCL, by the ring's time") {
  const SmallPlan nccl = on(8, test::vgg16()), ring = over_grpc(8, test::vgg16());
  const double difference = run_plan(ring, "multi_worker_mirrored").last_step_s() -
                            run_plan(nccl, "multi_worker_mirrored").last_step_s();
  // 2 x 7/8 x 553 MB at no more than 1.5 GB/s are 0.65 s; NCCL over 12.3 GB/s takes a tenth.
  CHECK(difference > 0.5);
}

TEST_CASE("what is said of the ring is TensorFlow's: 150 us a message, 1.5 GB/s a channel") {
  const Transport grpc = grpc_transport();
  CHECK(grpc.library == "grpc_ring");
  CHECK(grpc.message_overhead == microseconds(150));
  CHECK(grpc.stream_rate.per_second == 1.5e9);
}

}  // namespace multi_worker_mirrored_test

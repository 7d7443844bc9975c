// Copies and sums inside one node against their closed forms.
#include "sim/strategy/replicas/node_sums.hpp"

#include "sim/strategy/servers/server_network.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace node_sums_test {

using namespace foretrain;
using test::SmallPlan;

namespace {

constexpr Bytes kTensor{12'300'000};   ///< 1 ms on PCIe 3
constexpr std::uint32_t kLargest = 4;  ///< fc1.weight of the MNIST network, 1,179,648 elements

/// Four V100 on the PCIe lanes of one CPU.
struct Node {
  SmallPlan small;
  Placement placement = place_packed(4, 4);
  Cluster cluster;
  TaskGraph graph;
  PlanRequest request;
  Process process;
  NodeSums sums;
  QueueId queue;

  explicit Node(std::vector<int> gpu_of)
      : cluster((small.spec = test::pcie_cluster(1, 4), Cluster::build(small.spec, 1))),
        request{small.workload, cluster, placement, small.knobs, small.device},
        process(request, graph),
        sums(process, std::move(gpu_of)),
        queue(graph.add_queue("tensor")) {}

  double run_s() const {
    return to_seconds(run(graph, *make_max_min_network(cluster.capacities())).end_of(graph.last_on(queue)));
  }
  LabelId label() { return graph.label("copy"); }
};

std::vector<int> all_on_first() { return std::vector<int>(8, 0); }

}  // namespace

TEST_CASE("gradients go to host memory over every GPU's own lanes at once") {
  Node node({});
  node.sums.gather(node.queue, kLargest, kTensor, node.label(), {});
  CHECK(node.sums.gpus() == 4);
  CHECK(node.run_s() == Approx(1e-3 + 1e-6).epsilon(1e-6));  // one link of 1 us
}

TEST_CASE("gradients of the others enter the GPU that sums over its lanes, one third of them each") {
  Node node(all_on_first());
  node.sums.gather(node.queue, kLargest, kTensor, node.label(), {});
  CHECK(node.run_s() == Approx(3e-3 / 0.64 + 2e-6).epsilon(1e-6));  // through the CPU
}

TEST_CASE("copies to the GPUs follow each other, copies from them meanwhile do not wait") {
  Node node({});
  const QueueId second = node.graph.add_queue("second"), third = node.graph.add_queue("third");
  node.sums.scatter(second, 0, kTensor, node.label(), {});
  node.sums.gather(third, 1, kTensor, node.label(), {});
  node.sums.scatter(node.queue, kLargest, kTensor, node.label(), {});
  CHECK(node.run_s() == Approx(2e-3 + 2e-6).epsilon(1e-6));
}

TEST_CASE("the CPU adds three gradients to the first and works on what the optimizer touches") {
  Node node({});
  node.sums.add(node.queue, kLargest, {8'000'000}, node.label(), Account::optimizer);
  CHECK(node.run_s() == Approx((3.0 * 3 * 4 * 1'179'648 + 8e6) / 80e9).epsilon(1e-6));
}

TEST_CASE("a GPU adds all four in one kernel: five passes over the tensor") {
  Node node(all_on_first());
  node.sums.add(node.queue, kLargest, {8'000'000}, node.label(), Account::optimizer);
  const Time kernel =
      memory_kernel_time({20 * 1'179'648 + 8'000'000}, node.small.spec.node.gpu, node.small.device.kernel);
  CHECK(node.run_s() == Approx(to_seconds(kernel)).epsilon(1e-9));
}

TEST_CASE("a sum on a GPU goes to host memory and back over its lanes") {
  Node node(all_on_first());
  node.sums.to_host(node.queue, kLargest, kTensor, node.label());
  node.sums.to_gpu(node.queue, kLargest, kTensor, node.label());
  CHECK(node.run_s() ==
        Approx(2e-3 + 4e-6).epsilon(1e-6));  // each starts with the longest latency in the node
}

TEST_CASE("gradients in 16 bit are half the work") {
  Node node({});
  node.small.workload.precision = Precision::amp_fp16, node.small.workload.half_weights = true;
  node.sums.add(node.queue, kLargest, {}, node.label(), Account::other);
  CHECK(node.run_s() == Approx(3.0 * 3 * 2 * 1'179'648 / 80e9).epsilon(1e-6));
}

}  // namespace node_sums_test

// What a job asks of its nodes, how long, and what it pays: each number worked out beside it.
#include "sim/analysis/advice/job_resources.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace job_resources_test {

using namespace foretrain;

namespace {

/// Nodes of four GPUs, 40 cores and 400 GiB, of which jobs get 360.
Scenario scenario() {
  Scenario out = test::resnet_scenario();
  out.cluster.node.host.cores = 40;
  out.cluster.node.host.memory = {400LL << 30};
  return out;
}

double gib(Bytes memory) { return static_cast<double>(memory.count) / 0x1p30; }

Partition partition(const std::string& name, int most_nodes, int most_gpus, double hours) {
  Partition out;
  out.name = name, out.most_nodes = most_nodes, out.most_gpus = most_gpus,
  out.longest = seconds(3600 * hours);
  return out;
}

/// As Mahti hands out its GPUs, with a long queue behind.
Site site() {
  Site out;
  Partition tests = partition("test", 0, 0, 0);
  tests.for_tests = true;
  out.partitions = {tests, partition("small", 1, 2, 36), partition("medium", 6, 24, 36),
                    partition("long", 2, 8, 72)};
  return out;
}

std::string name_for(int gpus, int nodes, double hours) {
  const Site given = site();
  const Partition* found = partition_for(given, gpus, nodes, 3600 * hours);
  return found != nullptr ? found->name : "none";
}

}  // namespace

TEST_CASE("a GPU comes with its part of the node's cores and memory") {
  const NodeShare one = node_share(scenario(), 1, 1);
  CHECK(one.gpus == 1);
  CHECK(one.cores == 10);                // 40 / 4
  CHECK(gib(one.memory) == Approx(90));  // 0.9 x 400 / 4
  const NodeShare three = node_share(scenario(), 3, 1);
  CHECK(three.cores == 30);
  CHECK(gib(three.memory) == Approx(270));
}

TEST_CASE("a job never asks for all of a node's memory") {
  CHECK(gib(node_share(scenario(), 8, 2).memory) == Approx(360));
  CHECK(node_share(scenario(), 8, 2).cores == 40);
}

TEST_CASE(
    "GPUs that do not divide the nodes are rounded up on each, cores that do not divide the GPUs rounded "
    "down") {
  CHECK(node_share(scenario(), 3, 2).gpus == 2);
  Scenario odd = scenario();
  odd.cluster.node.gpus = 3;
  CHECK(node_share(odd, 1, 1).cores == 13);  // 40 / 3
  odd.cluster.node.host.cores = 2;
  CHECK(node_share(odd, 1, 1).cores == 1);
  CHECK(node_share(odd, 3, 1).cores == 2);  // the node has no more
}

TEST_CASE("cores that the scenario gives each GPU are asked for, up to those of the node") {
  Scenario wanted = scenario();
  wanted.workload.data.cores_per_gpu = 6;
  CHECK(node_share(wanted, 2, 1).cores == 12);
  wanted.workload.data.cores_per_gpu = 16;
  CHECK(node_share(wanted, 4, 1).cores == 40);  // not 64
}

TEST_CASE("the first partition that gives the GPUs, the nodes and the time is taken, and none for tests") {
  CHECK(name_for(1, 1, 10) == "small");
  CHECK(name_for(2, 1, 36) == "small");
  CHECK(name_for(4, 1, 10) == "medium");   // small gives 2
  CHECK(name_for(2, 2, 10) == "medium");   // small gives one node
  CHECK(name_for(1, 1, 37) == "long");     // small and medium end at 36 h
  CHECK(name_for(16, 4, 10) == "medium");  // long gives two nodes
  CHECK(name_for(28, 7, 10) == "none");
}

TEST_CASE("when none gives the time, the one that allows the longest is taken") {
  CHECK(name_for(1, 1, 100) == "long");
  CHECK(name_for(16, 4, 100) == "medium");
}

TEST_CASE("a partition without a limit gives any time") {
  Site open;
  open.partitions = {partition("gpu", 0, 0, 0)};
  CHECK(partition_for(open, 1000, 250, 1e9)->name == "gpu");
}

TEST_CASE("a site without partitions gives every number of GPUs, one with tests alone none") {
  CHECK(is_given({}, 1000, 250));
  CHECK(is_given(site(), 24, 6));
  CHECK_FALSE(is_given(site(), 25, 7));
  Site tests = site();
  tests.partitions.resize(1);
  CHECK_FALSE(is_given(tests, 1, 1));
}

TEST_CASE("a time limit is a tenth more, rounded up to 5 minutes, then 15, then an hour") {
  CHECK(time_limit_s(0) == 15 * 60);
  CHECK(time_limit_s(600) == 15 * 60);          // 11 minutes
  CHECK(time_limit_s(3600) == 70 * 60);         // 66
  CHECK(time_limit_s(4 * 3600) == 270 * 60);    // 264
  CHECK(time_limit_s(15 * 3600) == 17 * 3600);  // 16.5 h
}

TEST_CASE("a longer run never gets a shorter limit, and each at least a tenth more than it takes") {
  double before = 0;
  for (double run = 0; run < 200'000; run += 97) {
    const double limit = time_limit_s(run);
    CHECK(limit >= before);
    CHECK(limit >= 1.1 * run);
    CHECK(limit <= 1.1 * run + 3600);
    before = limit;
  }
}

TEST_CASE("GPU-hours are those of the GPUs, or of whole nodes where a partition gives nothing less") {
  Partition whole = partition("whole", 0, 0, 0);
  whole.whole_nodes = true;
  CHECK(paid_gpu_hours(scenario(), nullptr, 1, 1, 7200) == 2);
  CHECK(paid_gpu_hours(scenario(), nullptr, 8, 2, 3600) == 8);
  CHECK(paid_gpu_hours(scenario(), &whole, 1, 1, 7200) == 8);  // four GPUs for two hours
}

TEST_CASE("a bill counts GPUs, cores and memory of the job, or of its whole nodes") {
  Scenario billed = scenario();
  billed.cluster.site.billing = {"BU", 60, 1, 0.1};
  CHECK(billing_cost(billed, nullptr, 1, 1, 7200) == Approx(2 * (60 + 10 + 9)));
  CHECK(billing_cost(billed, nullptr, 8, 2, 3600) == Approx(2 * (240 + 40 + 36)));
  Partition whole = partition("whole", 0, 0, 0);
  whole.whole_nodes = true;
  CHECK(billing_cost(billed, &whole, 1, 1, 3600) == Approx(240 + 40 + 40));
  CHECK(billing_cost(scenario(), nullptr, 1, 1, 3600) == 0);  // without rates
}

TEST_CASE("GPUs draw a fifth of their power when idle, all of it while kernels run") {
  PredictionPoint p;
  p.gpus = 2, p.step_s = 1, p.total_s = 4000, p.overhead.startup_s = 400;
  p.breakdown = {0.5, 0.3, 0, 0.1, 0.1, 0};  // kernels: compute 0.5, optimizer 0.1
  Gpu gpu;
  gpu.tdp_w = 300;
  // 3600 s of steps at 0.2 + 0.8 x 0.6 = 0.68 and 400 s at 0.2: 2448 + 80 = 2528 s at full power.
  CHECK(gpu_energy_kwh(p, gpu) == Approx(2 * 0.3 * 2528 / 3600));
  gpu.tdp_w = 0;
  CHECK(gpu_energy_kwh(p, gpu) == 0);
}

}  // namespace job_resources_test

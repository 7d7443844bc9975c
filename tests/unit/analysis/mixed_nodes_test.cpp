// Jobs over unlike nodes: alike kinds are one kind, the slowest sets the pace, the others wait.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/search/mixing.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/scenario/job.hpp"
#include "sim/strategy/catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace mixed_nodes_test {

using namespace foretrain;

namespace {

constexpr double kSame = 1e-9;

NodeSpec slowed(NodeSpec node, double clock) {
  node.gpu.name += " slow";
  node.gpu.sustained_clock *= clock;
  return node;
}

/// Four NVLinked GPUs in each node; `more` nodes of another kind behind those.
ClusterSpec with_kind(int nodes, NodeKind kind) {
  ClusterSpec spec = test::nvlink_cluster(nodes + kind.nodes, 2);
  spec.node_kind = "first";
  spec.more_nodes.push_back(std::move(kind));
  return spec;
}

ClusterSpec with_slow_nodes(int fast, int slow, double clock = 0.5) {
  return with_kind(fast, {"slow", slow, slowed(test::nvlink_cluster(1, 2).node, clock)});
}

Scenario on(ClusterSpec cluster, std::vector<int> gpus) {
  return test::scenario_of(test::resnet18(), std::move(cluster), std::move(gpus));
}

SimulatedStep step_of(const Scenario& scenario, int gpus) {
  return StepSimulator(scenario, static_cast<int>(gpus_of_job(scenario)))
      .simulate(gpus, default_device_model(scenario));
}

double sum_of(const Breakdown& breakdown) {
  double sum = 0;
  for (const double account : breakdown) sum += account;
  return sum;
}

}  // namespace

TEST_CASE("a cluster of two kinds that are the same machine predicts what one kind does") {
  NodeSpec same = test::nvlink_cluster(1, 2).node;
  for (NodeLink& link : same.links) link.span = {7, 1, 3};  // another place in the file
  const Scenario two = on(with_kind(2, {"twin", 2, same}), {1, 3, 4, 8, 11, 16});
  const Scenario one = on(test::nvlink_cluster(4, 2), two.gpus);
  for (const std::string strategy :
       {"ddp", "horovod", "fsdp", "zero2", "mirrored", "multi_worker_mirrored"}) {
    Scenario a = one, b = two;
    a.strategy = b.strategy = strategy;
    for (const int gpus : {1, 3, 4, 8, 11, 16}) {
      if (!why_not_together(a, gpus).empty()) continue;
      CAPTURE(strategy, gpus);
      const SimulatedStep alone = step_of(a, gpus), split = step_of(b, gpus);
      CHECK(alone.step_s == split.step_s);
      CHECK(alone.breakdown == split.breakdown);
      CHECK(alone.critical == split.critical);
      CHECK(split.unlike.empty());
      CHECK(split.waits_for_slower_s == 0);
    }
  }
  CHECK_FALSE(predict(two).mixing);
}

TEST_CASE("with links alike a job is as slow as if all of its nodes were of the slow kind") {
  const Scenario mixed = on(with_slow_nodes(2, 2), {16});
  ClusterSpec all_slow = test::nvlink_cluster(4, 2);
  all_slow.node = slowed(all_slow.node, 0.5);
  CHECK(step_of(mixed, 16).step_s == Approx(step_of(on(all_slow, {16}), 16).step_s).epsilon(kSame));
  // On the first two nodes nobody is slow.
  CHECK(step_of(mixed, 8).step_s ==
        Approx(step_of(on(test::nvlink_cluster(4, 2), {8}), 8).step_s).epsilon(kSame));
}

TEST_CASE("faster ranks wait for the slower nodes, and the breakdown still sums to the step") {
  const SimulatedStep step = step_of(on(with_slow_nodes(2, 2), {16}), 16);
  REQUIRE(step.unlike.size() == 2);
  CHECK(step.unlike[0].what.ranks == 8);
  CHECK(step.unlike[1].what.nodes == 2);
  CHECK(step.unlike[1].own_step_s == step.step_s);
  CHECK(step.waits_for_slower_s == Approx(step.step_s - step.unlike[0].own_step_s));
  CHECK(step.waits_for_slower_s > 0.2 * step.step_s);
  CHECK(step.breakdown[static_cast<std::size_t>(Account::exposed_communication)] >= step.waits_for_slower_s);
  CHECK(sum_of(step.breakdown) == Approx(step.step_s));
  const auto part = std::ranges::find(step.parts, "waits for the slower nodes", &StepPart::name);
  REQUIRE(part != step.parts.end());
  CHECK(part->seconds == Approx(step.waits_for_slower_s));
}

TEST_CASE(
    "the order of the kinds in the file changes nothing where both have all of their nodes in the job") {
  const ClusterSpec fast_first = with_slow_nodes(2, 2);
  ClusterSpec slow_first = fast_first;
  std::swap(slow_first.node, slow_first.more_nodes.front().node);
  const SimulatedStep a = step_of(on(fast_first, {16}), 16), b = step_of(on(slow_first, {16}), 16);
  CHECK(a.step_s == Approx(b.step_s).epsilon(kSame));
  CHECK(b.waits_for_slower_s == 0);  // rank 0 is one of the slow ones
  CHECK(a.critical == b.critical);
}

TEST_CASE("NCCL takes the fewest channels of unlike nodes, and the slower NICs set the rate between them") {
  NodeKind thin{"thin", 2, test::nvlink_cluster(1, 2).node};
  thin.link = test::hdr100();
  thin.link->bandwidth = thin.link->bandwidth * 0.25;
  const ClusterSpec mixed = with_kind(2, thin);
  ClusterSpec all_thin = test::nvlink_cluster(4, 2);
  all_thin.fabric.link = *thin.link;
  const auto seconds_on = [](const ClusterSpec& spec) {
    const Cluster cluster = Cluster::build(spec, 4);
    return to_seconds(
        Communicator(cluster, place_packed(16, 4)).plan(CollectiveOp::all_reduce, Bytes{256 << 20}).alone);
  };
  CHECK(seconds_on(mixed) == Approx(seconds_on(all_thin)).epsilon(1e-6));
  CHECK(seconds_on(mixed) > 2 * seconds_on(test::nvlink_cluster(4, 2)));
}

TEST_CASE("nodes with fewer GPUs and NICs than others have their own routes") {
  NodeKind small{"small", 1, test::star_cluster(1, {12e9}).node};
  const ClusterSpec spec = with_kind(1, small);
  REQUIRE(check(spec).empty());
  const Cluster cluster = Cluster::build(spec, 2);
  const Cluster alone = Cluster::build(test::star_cluster(1, {12e9}), 1);
  const Route here = cluster.route(cluster.gpu(1, 0), cluster.cpu_of_gpu(1, 0)),
              there = alone.route(alone.gpu(0, 0), alone.cpu_of_gpu(0, 0));
  CHECK(here.bandwidth == there.bandwidth);
  CHECK(here.latency == there.latency);
  CHECK(cluster.links()[here.links.front()].from == cluster.gpu(1, 0));
  const SimulatedStep step = step_of(on(spec, {5}), 5);
  CHECK(step.unlike.size() == 2);
  CHECK(std::ranges::max_element(step.unlike, {}, &UnlikeRanks::own_step_s)->own_step_s == step.step_s);
}

TEST_CASE("a GPU that is clocked down sets the pace of all") {
  Scenario scenario = on(test::nvlink_cluster(2, 2), {8});
  scenario.workload.batch_per_gpu = 256;  // kernels are all that counts
  const double usual = step_of(scenario, 8).step_s;
  scenario.launch.slow_gpus = {{1, 2, 0.8}};
  const SimulatedStep slow = step_of(scenario, 8);
  CHECK(slow.step_s == Approx(usual / 0.8).epsilon(0.03));
  Scenario without = scenario;
  without.launch.slow_gpus.clear();
  DeviceModel all_slow = default_device_model(scenario);
  all_slow.kernel.time_scale /= 0.8;
  CHECK(slow.step_s == Approx(StepSimulator(without, 8).simulate(8, all_slow).step_s).epsilon(1e-9));
  REQUIRE(slow.unlike.size() == 2);
  CHECK(slow.unlike[1].what.ranks == 1);
  CHECK(slow.unlike[1].what.first == 6);
  CHECK(slow.waits_for == "waits for the slower GPUs");
  CHECK(step_of(scenario, 4).step_s == step_of(without, 4).step_s);  // it is on the other node
}

TEST_CASE("a rank that stands for others comes first with its node, and every node stays in one piece") {
  const Placement job = place_packed(6, 2);
  const auto places = [](const Placement& placement) {
    std::string text;
    for (const GpuPlace& place : placement.ranks) text += fmt::format("{}.{} ", place.node, place.gpu);
    return text;
  };
  CHECK(places(seen_from(job, 0)) == "0.0 0.1 1.0 1.1 2.0 2.1 ");
  CHECK(places(seen_from(job, 3)) == "1.1 1.0 2.0 2.1 0.0 0.1 ");
  CHECK(places(seen_from(job, 5)) == "2.1 2.0 0.0 0.1 1.0 1.1 ");
}

TEST_CASE("every strategy runs on several nodes when a GPU in the middle of one is slow") {
  for (const StrategyEntry& entry : strategy_catalog()) {
    if (entry.one_gpu) continue;
    Scenario scenario = on(test::nvlink_cluster(3, 2), {12});
    scenario.strategy = entry.name;
    if (!why_not(scenario, 12).empty()) continue;
    INFO(entry.name);
    const double usual = step_of(scenario, 12).step_s;
    scenario.launch.slow_gpus = {{1, 1, 0.5}};
    CHECK(step_of(scenario, 12).step_s >= usual);
  }
}

TEST_CASE("GPUs drawn as slow stay slow when the job grows, and all or none are drawn at the ends") {
  Scenario scenario = on(test::nvlink_cluster(64, 2), {256});
  scenario.launch.slow_draw = {0.25, 0.7, 3};
  int slow = 0;
  for (const GpuPlace& place : reserved_gpus(scenario, 256).ranks) slow += clock_of(scenario, place) < 1;
  CHECK(slow > 40);
  CHECK(slow < 90);
  scenario.launch.slow_draw.seed = 4;
  int others = 0;
  for (const GpuPlace& place : reserved_gpus(scenario, 256).ranks) others += clock_of(scenario, place) < 1;
  CHECK(others > 40);
  for (const double share : {0.0, 1.0}) {
    scenario.launch.slow_draw.share = share;
    for (const GpuPlace& place : reserved_gpus(scenario, 8).ranks)
      CHECK(clock_of(scenario, place) == (share > 0 ? 0.7 : 1));
  }
}

TEST_CASE("a job takes the nodes of each kind that it asks for, in the order of the file") {
  Scenario scenario = on(with_slow_nodes(3, 3), {4});
  scenario.launch.nodes_of = {1, 2};
  CHECK(gpus_of_job(scenario) == 12);
  const Placement placement = reserved_gpus(scenario, 9);
  CHECK(placement.nodes == 3);
  CHECK(placement.ranks[3] == GpuPlace{0, 3});
  CHECK(placement.ranks[4] == GpuPlace{3, 0});
  CHECK(placement.ranks[8] == GpuPlace{4, 0});
  scenario.launch.left_out = {0, 3};
  CHECK(reserved_gpus(scenario, 5).ranks[0] == GpuPlace{1, 0});
  CHECK(reserved_gpus(scenario, 5).ranks[4] == GpuPlace{4, 0});
  scenario.launch.nodes_of = {0, 2};
  CHECK(step_of(scenario, 8).unlike.empty());
}

TEST_CASE("what mixing costs: the verdict names what the table says is faster") {
  for (const double clock : {0.9, 0.2}) {
    const Prediction prediction = predict(on(with_slow_nodes(2, 2, clock), {8, 16}));
    REQUIRE(prediction.mixing);
    const Mixing& mixing = *prediction.mixing;
    REQUIRE(mixing.choices.size() == 2);
    const MixingChoice &all = mixing.choices[0], &fast = mixing.choices[1];
    CAPTURE(mixing.verdict);
    CHECK(fast.gpus == 8);
    CHECK(fast.samples_per_s == Approx(prediction.points[0].samples_per_s).epsilon(kSame));
    CHECK(all.samples_per_s == prediction.points[1].samples_per_s);
    CHECK(mixing.best == (fast.samples_per_s > all.samples_per_s ? 1 : 0));
    CHECK((mixing.verdict.find("leaving out the 2 slow nodes is") == 0) == (clock < 0.5));
    CHECK(prediction.points[1].waits_for_slower_s > 0);
  }
}

TEST_CASE("no node that the job does not have takes the place of one that is left out") {
  Scenario scenario = on(with_slow_nodes(2, 3, 0.3), {8});
  scenario.launch.nodes_of = {1, 1};
  const Prediction prediction = predict(scenario);
  REQUIRE(prediction.mixing);
  const MixingChoice& fast = prediction.mixing->choices[1];
  CHECK(fast.nodes == 1);
  CHECK(fast.samples_per_s == Approx(4 * 32 / step_of(on(test::nvlink_cluster(1, 2), {4}), 4).step_s));
}

TEST_CASE("leaving out the node of a slow GPU is one of the choices") {
  Scenario scenario = on(test::nvlink_cluster(4, 2), {16});
  scenario.launch.slow_gpus = {{2, 0, 0.4}};
  const Prediction prediction = predict(scenario);
  REQUIRE(prediction.mixing);
  CHECK(prediction.mixing->choices[1].gpus == 12);
  CHECK(prediction.mixing->best == 1);
  CHECK(prediction.mixing->verdict.starts_with("leaving out the node with a slow GPU is"));
}

TEST_CASE("of unlike nodes those with the least memory to spare decide whether the job fits") {
  NodeKind small{"small", 2, test::nvlink_cluster(1, 2).node};
  small.node.gpu.memory = {1LL << 30};
  const Prediction prediction = predict(on(with_kind(2, small), {8, 16}));
  CHECK(prediction.points[0].fits());
  CHECK_FALSE(prediction.points[1].fits());
  CHECK(prediction.points[1].memory_kind == "small");
  CHECK(prediction.mixing->verdict.starts_with("with the 2 small nodes it does not fit into memory"));
}

TEST_CASE("a batch for every kind: the global batch is their sum, the larger one may set the pace") {
  Scenario scenario = on(with_kind(2, {"twin", 2, test::nvlink_cluster(1, 2).node}), {16});
  scenario.batch_of_kind = {16, 48};
  const StepSimulator simulator(scenario, 16);
  CHECK(simulator.global_batch(16) == 8 * 16 + 8 * 48);
  CHECK(simulator.batch_per_gpu(16) == 16);
  const SimulatedStep step = simulator.simulate(16, default_device_model(scenario));
  REQUIRE(step.unlike.size() == 2);
  CHECK(step.waits_for == "waits for the larger batches");
  Scenario even = on(test::nvlink_cluster(4, 2), {16});
  even.workload.batch_per_gpu = 48;
  CHECK(step.step_s == Approx(step_of(even, 16).step_s).epsilon(kSame));
}

TEST_CASE("balance makes all ranks ready within the time of one sample, and keeps the global batch") {
  Scenario scenario = on(with_slow_nodes(2, 2), {16});
  scenario.balances = true;
  for (const std::int64_t batch : {512, 1000, 4001}) {
    scenario.global_batch = batch;
    const StepSimulator simulator(scenario, 16);
    CHECK(simulator.global_batch(16) == batch);
    const SimulatedStep step = simulator.simulate(16, default_device_model(scenario));
    const auto [first, last] = std::ranges::minmax_element(step.unlike, {}, &UnlikeRanks::own_step_s);
    const double sample = last->own_step_s / static_cast<double>(first->what.batch);
    CAPTURE(batch, first->what.batch, last->what.batch);
    CHECK(last->own_step_s - first->own_step_s <= 1.5 * sample);
    Scenario even = scenario;
    even.balances = false;
    CHECK(step.step_s < step_of(even, 16).step_s);
  }
}

}  // namespace mixed_nodes_test

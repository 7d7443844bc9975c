// The crossover by search is the crossover by looking at every number of GPUs.
#include <random>

#include "sim/analysis/search/crossover.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/scenario/job.hpp"
#include "tests/support/brute_force_crossover.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/drawn.hpp"
#include "tests/support/one_job.hpp"
#include "tests/support/test_clusters.hpp"
#include "tests/support/test_models.hpp"

namespace crossover_laws {

using namespace foretrain;
using test::pick;
using test::Random;

namespace {

Model random_model(Random& random) {
  Model model;
  model.name = "random";
  if (random() % 3 != 0) {
    model.input = {pick<std::int64_t>(random, {2, 784})};
    for (std::size_t i = 0; i < 1 + random() % 4; ++i) {
      model.layers.push_back(test::linear(pick<std::int64_t>(random, {16, 256, 1024, 4096})));
      model.layers.push_back(test::relu(false));
    }
  } else {
    model.input = {3, 32, 32};
    for (std::size_t i = 0; i < 1 + random() % 3; ++i) {
      // Drawn one after the other: a compiler may take arguments in any order.
      const auto stride = pick<std::int64_t>(random, {1, 2});
      const auto channels = pick<std::int64_t>(random, {16, 64, 256});
      model.layers.push_back(test::conv(channels, 3, stride, 1, false));
      model.layers.push_back(test::plain("batch_norm"));
      model.layers.push_back(test::relu(true));
    }
    model.layers.push_back(test::plain("flatten"));
  }
  model.layers.push_back(test::linear(10));
  model.layers.push_back(test::plain("loss"));
  return model;
}

ClusterSpec random_cluster(Random& random) {
  const int nodes = static_cast<int>(1 + random() % 32);
  ClusterSpec cluster;
  switch (random() % 5) {
    case 0:
      cluster = test::star_cluster(nodes, {12.3e9});
      break;
    case 1:
      cluster = test::nvlink_cluster(nodes, static_cast<int>(1 + random() % 2));
      break;
    case 2:
      cluster = test::pcie_cluster(nodes, static_cast<int>(1 + random() % 8));
      break;
    case 3:
      cluster = test::h100_cluster(nodes);
      break;
    default:
      cluster = test::pcie_cluster(nodes, 4);
      cluster.node.peer_access = false;
  }
  cluster.fabric.link.bandwidth.per_second *= pick<double>(random, {0.01, 0.1, 0.3, 1, 3});
  cluster.fabric.uplink = cluster.fabric.link;
  // Every number is simulated: keep that affordable.
  const int most = pick<int>(random, {8, 12, 16, 24, 32, 96});
  cluster.nodes = std::clamp(most / cluster.node.gpus, 1, nodes);
  return cluster;
}

Scenario random_scenario(Random& random) {
  Scenario scenario;
  scenario.model = random_model(random);
  scenario.workload.model = std::make_shared<const ExpandedModel>(expand(scenario.model).model);
  scenario.cluster = random_cluster(random);
  scenario.strategy =
      pick<std::string>(random, {"ddp", "ddp", "horovod", "mirrored", "multi_worker_mirrored",
                                 "data_parallel", "zero1", "zero2", "zero3", "fsdp", "parameter_server"});
  const std::int64_t batch = pick<std::int64_t>(random, {1, 4, 16, 64, 256, 1024});
  scenario.workload.batch_per_gpu = batch;
  if (random() % 3 == 0) scenario.global_batch = pick<std::int64_t>(random, {16, 50, 128, 200, 1024});
  if (random() % 4 == 0) scenario.knobs.accumulation = 2;
  scenario.gpus = {1};
  return scenario;
}

/// By number of GPUs, from 1.
struct Curve {
  std::vector<double> rates, samples;
};

/// Simulates every number.
Curve simulated(const Scenario& scenario) {
  const std::int64_t all = std::int64_t{scenario.cluster.nodes} * scenario.cluster.node.gpus;
  const int most =
      most_usable_gpus(scenario, static_cast<int>(std::min(all, scenario.global_batch.value_or(all))));
  PointPredictor points(scenario, most);
  Curve curve;
  for (int n = 1; n <= most; ++n) {
    curve.rates.push_back(points.throughput(n).samples_per_s);
    curve.samples.push_back(points.samples_per_step(n));
  }
  return curve;
}

Crossover searched(const Curve& curve, int per_node, int budget, bool every_gpu) {
  const auto at = [](int n) { return static_cast<std::size_t>(n - 1); };
  return find_crossover(
      [&](int n) {
        return Throughput{curve.rates[at(n)], {}, 0};
      },
      {static_cast<int>(curve.rates.size()), per_node, budget, [&](int n) { return curve.samples[at(n)]; },
       false, every_gpu});
}

struct Counts {
  int numbers = 0, simulated = 0;  ///< where every number counts
  std::vector<std::string> wrong{};
};

Counts search_against_every_number(int scenarios, unsigned seed) {
  Random random(seed);
  Counts counts;
  for (int i = 0; i < scenarios; ++i) {
    const Scenario scenario = random_scenario(random);
    const Curve curve = simulated(scenario);
    const bool every_gpu = i % 2 == 0;
    const Crossover found = searched(curve, scenario.cluster.node.gpus, 400, every_gpu);
    if (every_gpu) counts.numbers += found.numbers, counts.simulated += found.simulated;
    const auto counted = test::requested(scenario.cluster.node.gpus, every_gpu);
    const std::string is = test::answers_text(found),
                      should = test::answers_text(test::brute_force_crossover(curve.rates, counted));
    if (is != should)
      counts.wrong.push_back(scenario.strategy + " on " + scenario.cluster.name + ": " + is + " but " +
                             should);
  }
  return counts;
}

}  // namespace

TEST_CASE("the crossover by search equals that by brute force on 200 random scenarios") {
  const Counts counts = search_against_every_number(200, 1);
  CHECK(counts.wrong == std::vector<std::string>{});
  CHECK(counts.numbers > 1500);
  CHECK(counts.simulated < 0.9 * counts.numbers);
}

TEST_CASE("of a thousand random scenarios the search misses a lone slow number in a few at most",
          "[.][long]") {
  const Counts counts = search_against_every_number(1000, 2);
  CHECK(counts.wrong.size() <= 3);
}

namespace {

/// Steps that only grow, or only shrink, with the number of nodes, in each place of the last node by itself,
/// with jumps; a batch per GPU or one shared by all.
Curve made_up_curve(Random& random, int most, int per_node) {
  std::uniform_real_distribution<double> unit(0, 1);
  Curve curve;
  const double sign = random() % 4 == 0 ? -1 : 1, node_cost = unit(random) * 0.4,
               per_node_cost = std::pow(unit(random), 4) * 0.2;
  std::vector<double> place_cost, jump_at, jump;
  for (int place = 0; place < per_node; ++place) {
    place_cost.push_back(random() % 3 == 0 ? unit(random) : 0.1 * unit(random));
    jump_at.push_back(unit(random) * most / per_node);
    jump.push_back(random() % 2 == 0 ? 0 : unit(random));
  }
  const double batch = random() % 2 == 0 ? 0 : std::floor(most * (1 + 20 * unit(random)));
  for (int n = 1; n <= most; ++n) {
    const auto place = static_cast<std::size_t>((n - 1) % per_node);
    const int nodes = (n - 1) / per_node + 1;
    const double grown =
        node_cost * (1 - 1.0 / nodes) + per_node_cost * nodes + (nodes > jump_at[place] ? jump[place] : 0);
    const double compute = batch > 0 ? std::ceil(batch / n) / batch : 1;
    const double step = n == 1 ? 1
                               : compute + place_cost[place] +
                                     (sign > 0    ? grown
                                      : batch > 0 ? 0
                                                  : 1 / (1 + grown));
    curve.samples.push_back(batch > 0 ? batch : n);
    curve.rates.push_back(curve.samples.back() / step);
  }
  return curve;
}

}  // namespace

TEST_CASE("on steps that do not turn between nodes the search is exact, whatever they look like") {
  Random random(3);
  int numbers = 0, simulations = 0;
  for (int i = 0; i < 3000; ++i) {
    const int per_node = static_cast<int>(1 + random() % 8), most = static_cast<int>(1 + random() % 300);
    const Curve curve = made_up_curve(random, most, per_node);
    const bool every_gpu = i % 2 == 0;
    const Crossover found = searched(curve, per_node, 1000, every_gpu);
    INFO("curve " << i << ", " << most << " GPUs, " << per_node << " per node"
                  << (every_gpu ? ", every one" : ""));
    const Crossover brute = test::brute_force_crossover(curve.rates, test::requested(per_node, every_gpu));
    REQUIRE(test::answers_text(found) == test::answers_text(brute));
    numbers += found.numbers, simulations += found.simulated;
  }
  CHECK(simulations < 0.6 * numbers);
}

}  // namespace crossover_laws

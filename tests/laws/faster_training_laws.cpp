// Laws of more bandwidth through the whole pipeline: a training on a faster machine is never slower.
#include <limits>

#include "sim/analysis/step/step_simulator.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/random_links.hpp"
#include "tests/support/test_models.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace faster_training_laws {

using namespace foretrain;
using namespace foretrain::test;

namespace {

Scenario random_training(Draws& draws) {
  Scenario scenario = scenario_of(mnist_net(), random_cluster(draws), {1});
  scenario.collective.nccl.algorithm = nccl::Algorithm::ring;
  scenario.collective.nccl.protocol = static_cast<Protocol>(draws.below(3));
  return scenario;
}

/// Infinite where it takes longer than is simulated.
double step_s(const Scenario& scenario) {
  const int gpus = scenario.cluster.nodes * scenario.cluster.node.gpus;
  try {
    return StepSimulator(scenario, gpus).simulate(gpus, default_device_model(scenario)).step_s;
  } catch (const InputError&) {
    return std::numeric_limits<double>::infinity();
  }
}

}  // namespace

// NCCL's algorithm and protocol are held fixed: it chooses by its own tables, not by what these links reach.
// A collective's flows are rounded to whole bytes and picoseconds: nothing beside a millionth of a step.
TEST_CASE("law: one wider link in a cluster makes no step of DDP slower") {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Draws draws(seed);
    Scenario scenario = random_training(draws);
    const std::vector<LinkType*> links = links_of(scenario.cluster);
    LinkType& link = *links[draws.below(links.size())];
    const double before = step_s(scenario);
    link.bandwidth = draws.faster(link.bandwidth);
    CAPTURE(seed, scenario.cluster.name, scenario.cluster.fabric.kind, link.name);
    REQUIRE(step_s(scenario) <= before * (1 + 1e-6));
  }
}

}  // namespace faster_training_laws

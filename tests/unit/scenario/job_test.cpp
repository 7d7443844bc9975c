// Which reserved GPUs work, and who trains on which samples.
#include "sim/scenario/job.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace job_test {

using namespace foretrain;

namespace {

/// Two nodes of four GPUs.
Scenario scenario_with(const std::string& strategy, Launch launch = {},
                       Sampler sampler = Sampler::distributed) {
  Scenario scenario = test::scenario_of(test::mnist_net(), test::nvlink_cluster(4, 2), {1, 4, 8});
  scenario.strategy = strategy, scenario.launch = launch, scenario.sampler = sampler;
  return scenario;
}

std::vector<GpuPlace> working(const Scenario& scenario, int gpus) {
  return working_gpus(scenario, gpus).ranks;
}

}  // namespace

TEST_CASE("with a process for each GPU all reserved GPUs work") {
  const Scenario ddp = scenario_with("ddp");
  for (const int gpus : {1, 3, 4, 8}) {
    CHECK(working(ddp, gpus) == reserved_gpus(ddp, gpus).ranks);
    CHECK(working_gpus(ddp, gpus).nodes == (gpus + 3) / 4);
  }
  CHECK(job_warnings(ddp).empty());
}

TEST_CASE("one python process of a strategy with a process per GPU drives one GPU of all that are reserved") {
  const Scenario ddp = scenario_with("ddp", {{Launcher::python, 0}, {}});
  CHECK(working(ddp, 8) == std::vector<GpuPlace>{{0, 0}});
  CHECK(working_gpus(ddp, 8).nodes == 1);
  CHECK(reserved_gpus(ddp, 8).nodes == 2);
  CHECK(job_warnings(ddp) ==
        std::vector<std::string>{
            "of 8 reserved GPUs 1 works and 7 are idle: 1 process of ddp; start one per GPU, as with "
            "torchrun --nproc_per_node=4 or srun --ntasks-per-node=4"});
  CHECK(job_losses(ddp, 8) == "GPUs without a process are idle; ");
  CHECK(job_losses(ddp, 1).empty());
}

TEST_CASE("one process per node of such a strategy drives one GPU of each node") {
  const Scenario ddp = scenario_with("ddp", {{Launcher::srun, 1}, {}});
  CHECK(working(ddp, 8) == std::vector<GpuPlace>{{0, 0}, {1, 0}});
  CHECK(working_gpus(ddp, 8).nodes == 2);
  CHECK_THAT(job_warnings(ddp).at(0),
             ContainsSubstring("of 8 reserved GPUs 2 work and 6 are idle: 2 processes of ddp"));
}

TEST_CASE("one process that drives all GPUs of its node leaves none idle there") {
  const Scenario parallel = scenario_with("data_parallel", {{Launcher::python, 0}, {}});
  CHECK(working(parallel, 4).size() == 4);
  CHECK(why_not(parallel, 4).empty());
  CHECK_THAT(why_not(parallel, 5), ContainsSubstring("cannot drive GPUs of 2 nodes"));
}

TEST_CASE("the largest usable number of GPUs ends where the strategy does") {
  CHECK(most_usable_gpus(scenario_with("data_parallel"), 8) == 4);
  CHECK(most_usable_gpus(scenario_with("data_parallel"), 3) == 3);
  CHECK(most_usable_gpus(scenario_with("ddp"), 8) == 8);
  Scenario spread = scenario_with("data_parallel");
  spread.layout = Layout::spread;  // the second GPU already lies on another node
  CHECK(most_usable_gpus(spread, 8) == 1);
}

TEST_CASE("a sampler cuts the data set into a share for each working GPU") {
  CHECK(shares_of_data(scenario_with("ddp"), 8) == 8);
  CHECK(readers_of_a_sample(scenario_with("ddp"), 8) == 1);
  CHECK(shares_of_data(scenario_with("ddp", {{Launcher::python, 0}, {}}), 8) == 1);
}

TEST_CASE("without a sampler every process runs through the whole data set") {
  const Scenario ddp = scenario_with("ddp", {}, Sampler::none);
  CHECK(shares_of_data(ddp, 8) == 1);
  CHECK(readers_of_a_sample(ddp, 8) == 8);
  CHECK(readers_of_a_sample(ddp, 1) == 1);
  CHECK_THAT(job_warnings(ddp).at(0),
             ContainsSubstring("each of 8 processes runs through the whole data set"));
  CHECK(job_losses(ddp, 8) == "processes train on the same samples; ");
}

TEST_CASE("one process with several GPUs needs no sampler") {
  const Scenario parallel = scenario_with("data_parallel", {}, Sampler::none);
  CHECK(shares_of_data(parallel, 4) == 4);
  CHECK(readers_of_a_sample(parallel, 4) == 1);
}

TEST_CASE("LOCAL_RANK as the sampler's rank gives all nodes the same shares of as many as there are GPUs") {
  const Scenario ddp = scenario_with("ddp", {}, Sampler::local_rank);
  CHECK(shares_of_data(ddp, 8) == 8);
  CHECK(readers_of_a_sample(ddp, 8) == 2);
  CHECK(readers_of_a_sample(ddp, 4) == 1);
  CHECK_THAT(job_warnings(ddp).at(0),
             ContainsSubstring("2 nodes train on the same samples and an epoch leaves out 1 of 2"));
}

TEST_CASE("an accumulation that does not divide the global batch says what is computed instead") {
  const auto warned = [](const char* accumulation, std::vector<int> gpus) {
    ScenarioOverrides overrides;
    overrides.model = "mnist_net", overrides.cluster = "puhti", overrides.gpus = std::move(gpus);
    overrides.settings = {"model.global_batch=256", std::string("strategy.accumulation=") + accumulation};
    return make_scenario(overrides).warnings;
  };
  CHECK(warned("4", {1, 2, 4}).empty());  // 64, 32, 16 samples
  CHECK(warned("1", {3}).empty());        // nothing is accumulated
  // 256 / 3 = 85.3
  CHECK(
      warned("3", {1, 2}) ==
      std::vector<std::string>{"strategy.accumulation = 3 on 1 GPU does not divide the global batch of 256: "
                               "micro-steps of 86 samples are computed"});
  // 256 = 4 x 1 x 64, but 4 x 3 = 12 shares have 21.3 each
  CHECK(
      warned("4", {1, 3}) ==
      std::vector<std::string>{"strategy.accumulation = 4 on 3 GPUs does not divide the global batch of 256: "
                               "micro-steps of 22 samples are computed"});
}

}  // namespace job_test

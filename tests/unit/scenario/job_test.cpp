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

namespace {

Scenario strong(const char* strategy, std::int64_t batch, std::vector<int> gpus,
                std::vector<std::string> settings = {}) {
  ScenarioOverrides overrides;
  overrides.model = "mnist_net", overrides.cluster = "puhti", overrides.strategy = strategy;
  overrides.gpus = std::move(gpus), overrides.settings = std::move(settings);
  overrides.settings.push_back("model.global_batch=" + std::to_string(batch));
  return make_scenario(overrides);
}

}  // namespace

TEST_CASE("ranks with loaders of their own train whole batches each, rounded up") {
  const Scenario ddp = strong("ddp", 33, {1, 4, 32});
  CHECK(samples_of_step(ddp, 1) == 33);
  CHECK(samples_of_step(ddp, 4) == 4 * 9);    // ceil(33 / 4) = 9
  CHECK(samples_of_step(ddp, 32) == 32 * 2);  // ceil(33 / 32) = 2
  CHECK(samples_of_step(ddp, 33) == 33);
  // 33 / (4 ranks x 3 micro-steps) = 2.75
  CHECK(samples_of_step(strong("horovod", 33, {4}, {"strategy.accumulation=3"}), 4) == 4 * 3 * 3);
}

TEST_CASE("a loader that deals one batch out splits it without a rest") {
  CHECK(samples_of_step(strong("dp", 33, {4}), 4) == 33);
  CHECK(samples_of_step(strong("mirrored", 33, {4}), 4) == 33);
  CHECK(samples_of_step(strong("multi_worker_mirrored", 33, {8}), 8) == 33);
  // Two micro-steps of 17.
  CHECK(samples_of_step(strong("dp", 33, {4}, {"strategy.accumulation=2"}), 4) == 34);
}

TEST_CASE("a fixed batch per GPU is trained by the GPUs that work") {
  ScenarioOverrides overrides;
  overrides.model = "mnist_net", overrides.cluster = "puhti", overrides.batch = 10, overrides.gpus = {4};
  overrides.settings = {"strategy.accumulation=3"};
  CHECK(samples_of_step(make_scenario(overrides), 4) == 10 * 3 * 4);
  overrides.settings.emplace_back("launch.with=python");
  CHECK(samples_of_step(make_scenario(overrides), 4) == 10 * 3);
}

TEST_CASE("an epoch has as many steps as its samples fill, the last one smaller or left out") {
  DataSet data;
  data.samples = 100;
  CHECK(epoch_steps(data, 33).full == 3);
  CHECK(epoch_steps(data, 33).rest == 1);
  CHECK(epoch_steps(data, 33).count() == 4);
  data.drop_last = true;
  CHECK(epoch_steps(data, 33).count() == 3);
  CHECK(epoch_steps(data, 101).count() == 0);
}

TEST_CASE("without a sampler each process runs through the whole data set") {
  const Scenario scenario = strong("ddp", 64, {4}, {"data.sampler=none", "data.samples=1000"});
  CHECK(epoch_steps(scenario, 4).count() == 63);  // ceil(1000 / 16)
}

TEST_CASE("a measured rate counts the samples that the ranks really had") {
  const Scenario scenario =
      strong("ddp", 33, {4}, {"measured.gpus=4", "measured.samples_per_s=360", "data.samples=1000"});
  CHECK(scenario.anchor->step_s == Approx(0.1));  // 36 samples
}

TEST_CASE("a global batch that does not divide says what is trained instead") {
  CHECK(strong("ddp", 256, {1, 2, 4}, {"strategy.accumulation=4"}).warnings.empty());
  CHECK(
      strong("ddp", 256, {1, 2, 3, 12, 24, 48, 80}).warnings ==
      std::vector<std::string>{
          "the global batch of 256 does not divide by the GPUs: every rank gets whole samples, rounded up, "
          "and a step trains 258 on 3 GPUs, 264 on 12 GPUs, 264 on 24 GPUs, 288 on 48 GPUs, others on 1 more "
          "number; all figures count these"});
  // 256 / 3 = 85.3
  CHECK(strong("ddp", 256, {1}, {"strategy.accumulation=3"}).warnings ==
        std::vector<std::string>{
            "the global batch of 256 does not divide by the GPUs times strategy.accumulation = 3: every rank "
            "gets whole samples, rounded up, and a step trains 258 on 1 GPU; all figures count these"});
}

}  // namespace job_test

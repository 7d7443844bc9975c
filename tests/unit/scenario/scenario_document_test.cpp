// The command line over the file: settings replace, add and are checked like the file itself, and mistakes
// name their true origin.
#include "sim/strategy/ddp/ddp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace scenario_document_test {

using namespace foretrain;

namespace {

const std::string kText =
    "[model]\nname = \"mnist_convnet_csc\"\nbatch_per_gpu = 100\n[cluster]\nname = \"puhti\"\n[run]\ngpus = "
    "[1, 4]\nepochs = 3\n";

ScenarioOverrides set(std::vector<std::string> settings) {
  ScenarioOverrides overrides;
  overrides.settings = std::move(settings);
  return overrides;
}

Scenario read(const ScenarioOverrides& overrides, const std::string& text = kText) {
  test::use_source_catalogs();
  return read_scenario({"s.toml", text}, overrides);
}

}  // namespace

TEST_CASE("a setting replaces what the file says and leaves the rest") {
  const Scenario scenario = read(set({"run.epochs=7", "run.gpus=[2]"}));
  CHECK(scenario.epochs == 7);
  CHECK(scenario.gpus == std::vector<int>{2});
  CHECK(scenario.workload.batch_per_gpu == 100);
}

TEST_CASE("a setting may be written as TOML or as a bare word") {
  CHECK(read(set({"cluster.name=mahti"})).cluster.name == "mahti");
  CHECK(read(set({"cluster.name=\"mahti\""})).cluster.name == "mahti");
  CHECK(read(set({"strategy.bucket_cap=10MiB"})).knobs.get<DdpOptions>().bucket_cap == Bytes{10 << 20});
  CHECK(read(set({"strategy.bucket_cap = 10 MiB"})).knobs.get<DdpOptions>().bucket_cap == Bytes{10 << 20});
  CHECK(read(set({"run.every.validation={ epochs = 2, duration = \"3 s\" }"})).periodic.at(0).every_epochs ==
        2);
  CHECK(read(set({"run.every.validation.duration=3s"})).periodic.at(0).duration == seconds(3));
}

TEST_CASE("the later of two settings counts, and an option counts more than a setting") {
  CHECK(read(set({"run.epochs=5", "run.epochs=6"})).epochs == 6);
  ScenarioOverrides overrides = set({"model.name=resnet50", "run.gpus=[8]"});
  overrides.model = "spiral_mlp";
  overrides.gpus = {2, 1};
  overrides.batch = 7;
  overrides.strategy = "horovod";
  overrides.cluster = "mahti";
  const Scenario scenario = read(overrides);
  CHECK(scenario.model.name == "spiral_mlp");
  CHECK(scenario.gpus == std::vector<int>{1, 2});
  CHECK(scenario.workload.batch_per_gpu == 7);
  CHECK(scenario.strategy == "horovod");
  CHECK(scenario.cluster.name == "mahti");
}

TEST_CASE("a setting of one kind of batch takes the place of the other") {
  CHECK(read(set({"model.global_batch=64"})).global_batch == 64);
  const std::string strong =
      "[model]\nname = \"spiral_mlp\"\nglobal_batch = 64\n[cluster]\nname = \"puhti\"\n";
  CHECK(read(set({"model.batch_per_gpu=8"}), strong).global_batch == std::nullopt);
  ScenarioOverrides batch;
  batch.batch = 32;
  CHECK(read(batch, strong).global_batch == 32);
}

TEST_CASE("a setting of one measured figure takes the place of another") {
  CHECK(read(set({"measured.step=3ms"}), kText + "[measured]\nsamples_per_s = 100\n").anchor->step_s ==
        Approx(0.003));
}

TEST_CASE("a measurement in the file is of the job in the file, whatever the command line asks for") {
  const std::string measured = kText + "[measured]\nsamples_per_s = 100\n";
  const Scenario scenario = read(set({"model.batch_per_gpu=50"}), measured);
  REQUIRE(scenario.anchor);
  REQUIRE(scenario.anchor->job);
  CHECK(scenario.workload.batch_per_gpu == 50);
  CHECK(scenario.anchor->job->workload.batch_per_gpu == read({}, measured).workload.batch_per_gpu);
  CHECK(scenario.anchor->step_s == read({}, measured).anchor->step_s);
  CHECK_FALSE(read(set({"run.epochs=2"}), measured).anchor->job);
  CHECK_FALSE(read(set({"model.batch_per_gpu=50", "measured.samples_per_s=80"}), measured).anchor->job);
}

TEST_CASE("a measurement of one network does not calibrate another") {
  ScenarioOverrides other;
  other.model = "resnet50";
  const Scenario scenario = read(other, kText + "[measured]\nsamples_per_s = 100\n");
  CHECK_FALSE(scenario.anchor);
  REQUIRE_FALSE(scenario.warnings.empty());
  CHECK(scenario.warnings.front() ==
        "[measured] is of mnist_convnet_csc on puhti: it does not calibrate the prediction of resnet50 on "
        "puhti");
}

TEST_CASE("mistakes in settings and options name them, mistakes in the file name the file") {
  ScenarioOverrides overrides = set({"run.epoch=3", "strategy.bucket_cap=10", "cluster.name=puthi"});
  overrides.model = "resnet5O";
  overrides.gpus = {1, 0};
  CHECK(test::scenario_mistakes(kText + "startup = 3\n", overrides) ==
        R"(--gpus 1,0:1:3: error: run.gpus must hold integers from 1 to 1000000
  1 | 1,0
    |   ^
--model resnet5O:1:1: error: unknown model "resnet5O"
  1 | resnet5O
    | ^^^^^^^^
  hint: did you mean "resnet50", "resnet152" or "resnet18"? All: foretrain list models; your own: a file (docs/models/networks.md), as in ./mine.toml
--set cluster.name=puthi:1:14: error: unknown cluster "puthi"
  1 | cluster.name=puthi
    |              ^^^^^
  hint: did you mean "puhti"? All: foretrain list clusters; your own: a file (CONTRIBUTING.md, Recipes), as in ./mine.toml
--set run.epoch=3:1:5: error: unknown key "epoch" in [run]
  1 | run.epoch=3
    |     ^^^^^
  hint: did you mean "epochs"?
--set strategy.bucket_cap=10:1:21: error: strategy.bucket_cap is a size and needs its unit, as in "25 MiB"
  1 | strategy.bucket_cap=10
    |                     ^^
s.toml:9:11: error: run.startup is a time and needs its unit, as in "2.5 us"
  9 | startup = 3
    |           ^
6 errors
)");
}

TEST_CASE("a setting that is no key=value, or no TOML, says so") {
  CHECK(test::scenario_mistakes(kText, set({"epochs"})) ==
        "--set epochs:1:1: error: a setting is written key=value\n"
        "  1 | epochs\n"
        "    | ^^^^^^\n"
        "  hint: as in --set model.batch_per_gpu=64\n");
  CHECK_THAT(test::scenario_mistakes(kText, set({"run.gpus=[1,2,x]"})),
             ContainsSubstring("--set run.gpus=[1,2,x]:1:15: error: cannot read value"));
  CHECK_THAT(test::scenario_mistakes(kText, set({"=3"})), ContainsSubstring("--set =3:1:1: error: "));
  CHECK_THAT(test::scenario_mistakes(kText, set({"a b=3"})), ContainsSubstring("--set a b=3:1:3: error: "));
  CHECK_THAT(test::scenario_mistakes(kText, set({"run.epochs="})),
             ContainsSubstring("--set run.epochs=:1:12: error: "));
}

TEST_CASE("a file with an unclosed string at its end does not blame the settings") {
  const std::string answer = test::scenario_mistakes(kText + "note = \"\"\"abc", set({"run.epochs=4"}));
  CHECK_THAT(answer, ContainsSubstring("s.toml:9:") && !ContainsSubstring("--set"));
}

TEST_CASE("a setting of several lines is read as one, so it cannot bring in further keys") {
  CHECK_THAT(test::scenario_mistakes(kText, set({"run.epochs=7\nrun.startup=3"})),
             ContainsSubstring("  1 | run.epochs=7 run.startup=3\n"));
}

TEST_CASE("model and cluster alone make a scenario") {
  test::use_source_catalogs();
  ScenarioOverrides overrides;
  overrides.model = "spiral_mlp";
  overrides.cluster = "raven";
  const Scenario scenario = make_scenario(overrides);
  CHECK(scenario.name == "spiral_mlp on raven");
  CHECK(scenario.workload.batch_per_gpu == 32);
  CHECK(make_scenario(set({"model.name=spiral_mlp", "cluster.name=raven", "run.epochs=2"})).epochs == 2);
}

TEST_CASE("a scenario without a model or a cluster asks for it") {
  test::use_source_catalogs();
  ScenarioOverrides overrides;
  CHECK_THROWS_WITH(make_scenario(overrides),
                    "error: which model?\n  hint: give --model NAME, or a scenario file\n");
  overrides.model = "spiral_mlp";
  CHECK_THROWS_WITH(make_scenario(overrides),
                    "error: which cluster?\n  hint: give --cluster NAME, or a scenario file\n");
}

}  // namespace scenario_document_test

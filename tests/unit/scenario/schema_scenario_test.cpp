// Scenarios read right: every table, the defaults, anchors, several mistakes at once, and settings without
// effect.
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/strategy/ddp/ddp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace schema_scenario_test {

using namespace foretrain;

namespace {

const std::string kModel = "[model]\nname = \"mnist_convnet_csc\"\nbatch_per_gpu = 100\n";
const std::string kStart = kModel + "[cluster]\nname = \"mahti\"\n";

Scenario read(const std::string& text) {
  test::use_source_catalogs();
  return read_scenario({"folder/question.toml", text}, {});
}

std::vector<std::string> warnings_of(const std::string& text) { return read(text).warnings; }

}  // namespace

TEST_CASE("a scenario of a model and a cluster has the documented defaults") {
  const Scenario scenario = read(kStart);
  CHECK(scenario.name == "question");
  CHECK(scenario.model.name == "mnist_convnet_csc");
  CHECK(scenario.workload.model->parameter_elements() == 29'034);  // the tutorial's ConvNet
  CHECK(scenario.cluster.name == "mahti");
  CHECK(scenario.strategy == "ddp");
  CHECK(scenario.workload.precision == Precision::fp32);
  CHECK(scenario.workload.optimizer.kind == OptimizerKind::sgd);
  CHECK(scenario.knobs.get<DdpOptions>().bucket_cap == Bytes{25 << 20});
  CHECK(scenario.layout == Layout::packed);
  CHECK(scenario.epochs == 1);
  CHECK(!scenario.anchor);
  CHECK(scenario.warnings.empty());
}

TEST_CASE("every key of a full scenario arrives where it belongs") {
  const Scenario scenario = read(R"(note = "below the table"
[model]
name = "mnist_convnet_csc"
precision = "amp_fp16"
global_batch = 256
optimizer = "adamw"
optimizer_form = "fused"
weight_decay = true
[data]
samples = 60_000
sample_bytes = "3144 B"
decode = "27.2 us"
workers_per_gpu = 3
prefetch = 4
cores_per_gpu = 8
pinned = false
persistent_workers = true
drop_last = true
[strategy]
name = "ddp"
bucket_cap = "10 MB"
first_bucket = "2 MiB"
accumulation = 4
find_unused_parameters = true
static_graph = true
gradient_as_bucket_view = true
broadcast_buffers = false
wrap_one_gpu = true
[cluster]
name = "mahti"
layout = "spread"
[run]
gpus = [8, 1, 4, 4]
epochs = 2.5
startup = "12 s"
[run.every]
validation = { epochs = 0.5, duration = "3 s" }
checkpoint = { duration = "1 min" }
[loop]
non_blocking = false
loss_item_every = 10
loss_item_before_backward = true
zero_grad = "zero"
overhead = "300 us"
)");
  const Workload& work = scenario.workload;
  CHECK(scenario.note == "below the table");
  CHECK(work.precision == Precision::amp_fp16);
  CHECK(scenario.global_batch == 256);
  CHECK(work.batch_per_gpu == 256);  // on the first of its GPU counts, 1
  CHECK((work.optimizer.kind == OptimizerKind::adamw && work.optimizer.form == OptimizerForm::fused &&
         work.optimizer.weight_decay));
  CHECK((work.data.samples == 60'000 && work.data.sample_bytes == Bytes{3144} &&
         work.data.decode == Time{27'200'000}));
  CHECK((work.data.workers_per_gpu == 3 && work.data.prefetch == 4 && work.data.cores_per_gpu == 8));
  CHECK((!work.data.pinned && work.data.persistent_workers && work.data.drop_last));
  const DdpOptions& options = scenario.knobs.get<DdpOptions>();
  CHECK((options.bucket_cap == Bytes{10'000'000} && options.first_bucket == Bytes{2 << 20} &&
         scenario.knobs.accumulation == 4));
  CHECK((options.find_unused_parameters && options.static_graph && options.gradient_as_bucket_view &&
         !options.broadcast_buffers && options.wrap_one_gpu));
  CHECK(scenario.layout == Layout::spread);
  CHECK(scenario.gpus == std::vector<int>{1, 4, 8});
  CHECK(scenario.epochs == 2.5);
  CHECK(scenario.startup == seconds(12));
  REQUIRE(scenario.periodic.size() == 2);
  CHECK((scenario.periodic[0].name == "validation" && scenario.periodic[0].every_epochs == 0.5 &&
         scenario.periodic[0].duration == seconds(3)));
  CHECK((scenario.periodic[1].name == "checkpoint" && scenario.periodic[1].every_epochs == 1 &&
         scenario.periodic[1].duration == seconds(60)));
  const TrainingLoop& loop = work.loop;
  CHECK((!loop.non_blocking && loop.loss_item_every == 10 && loop.loss_item_before_backward &&
         loop.overhead == microseconds(300)));
  CHECK(loop.zero_grad == TrainingLoop::ZeroGrad::zero);
}

TEST_CASE("without run.gpus the counts double up to a node, then by nodes, up to the whole cluster") {
  // mahti: 24 nodes of 4 GPUs, so 1, 2, one node, then 2, 4, 8, 16 and all 24 nodes
  CHECK(read(kStart).gpus == std::vector<int>{1, 2, 4, 8, 16, 32, 64, 96});
}

TEST_CASE("a measured point becomes the time of one step") {
  CHECK(read(kStart + "[measured]\nsamples_per_s = 400\n").anchor->step_s == Approx(0.25));  // 100 / 400
  CHECK(read(kStart + "[measured]\ngpus = 4\nsamples_per_s = 400\n").anchor->step_s ==
        Approx(1.0));  // 4 * 100 / 400
  CHECK(read(kStart + "[measured]\ngpus = 4\nstep = \"3 ms\"\n").anchor->step_s == Approx(0.003));
  CHECK(read(kStart + "[measured]\nepoch = \"6 s\"\n[data]\nsamples = 60_000\n").anchor->step_s ==
        Approx(0.01));  // 600 steps
  // 8 ranks share 60,050 samples as 7,507 each: 76 steps, or 75 when the last one of 7 samples is dropped
  CHECK(read(kStart + "[measured]\ngpus = 8\nepoch = \"76 s\"\n[data]\nsamples = 60_050\n").anchor->step_s ==
        Approx(1.0));
  CHECK(read(kStart + "[measured]\ngpus = 8\nepoch = \"75 s\"\n[data]\nsamples = 60_050\ndrop_last = true\n")
            .anchor->step_s == Approx(1.0));
}

TEST_CASE("strong scaling shares the global batch out and leaves out GPU counts beyond it") {
  const Scenario scenario =
      read("[model]\nname = \"mnist_convnet_csc\"\nglobal_batch = 6\n[cluster]\nname = \"mahti\"\n");
  CHECK(scenario.gpus == std::vector<int>{1, 2, 4});
  CHECK(scenario.workload.batch_per_gpu == 6);
}

TEST_CASE("five mistakes on five lines are reported together, in the order of the file") {
  const std::string text =
      "[model]\nname = \"mnist_convnet_csc\"\nbacth_per_gpu = 32\n[data]\ndecode = 4\nworkers_per_gpu = -1\n"
      "[strategy]\nname = \"dpd\"\n[cluster]\nname = \"mathi\"\n";
  CHECK(test::scenario_mistakes(text) ==
        R"(s.toml:3:1: error: unknown key "bacth_per_gpu" in [model]
  3 | bacth_per_gpu = 32
    | ^^^^^^^^^^^^^
  hint: did you mean "batch_per_gpu"?
s.toml:5:10: error: data.decode is a time and needs its unit, as in "2.5 us"
  5 | decode = 4
    |          ^
s.toml:6:19: error: data.workers_per_gpu must be an integer from 0 to 256
  6 | workers_per_gpu = -1
    |                   ^^
s.toml:8:8: error: unknown strategy.name "dpd"
  8 | name = "dpd"
    |        ^^^^^
  hint: did you mean "ddp", "dp" or "hvd"?
s.toml:10:8: error: unknown cluster "mathi"
  10 | name = "mathi"
     |        ^^^^^^^
  hint: did you mean "mahti"? All: foretrain list clusters; your own: a file (CONTRIBUTING.md, Recipes), as in ./mine.toml
5 errors
)");
}

TEST_CASE("while lines are unreadable nothing is called missing") {
  const std::string answer = test::scenario_mistakes("[model]\nname = \n[cluster\nname = \"mahti\"\n");
  CHECK_THAT(answer, ContainsSubstring("s.toml:2:8") && ContainsSubstring("s.toml:3:9") &&
                         !ContainsSubstring("missing"));
}

TEST_CASE("an option of another strategy is a mistake that names its owner") {
  const std::string answer =
      test::scenario_mistakes(kStart + "[strategy]\nname = \"single\"\nbucket_cap = \"1 MiB\"\n");
  CHECK_THAT(answer, ContainsSubstring("strategy.bucket_cap is an option of ddp, not of single"));
}

TEST_CASE("an option of the strategy that the command line replaced is left out with a warning") {
  const SourceText text{"question.toml",
                        kStart + "[strategy]\nname = \"ddp\"\nbucket_cap = \"1 MiB\"\n[run]\ngpus = [1]\n"};
  ScenarioOverrides overrides;
  overrides.strategy = "single";
  CHECK(
      read_scenario(text, overrides).warnings ==
      std::vector<std::string>{"strategy.bucket_cap has no effect with strategy single: it belongs to ddp"});
}

TEST_CASE("a setting without effect says so") {
  using List = std::vector<std::string>;
  CHECK(warnings_of(kStart + "[data]\nworkers_per_gpu = 0\nprefetch = 4\n") ==
        List{"data.prefetch has no effect with workers_per_gpu = 0"});
  CHECK(warnings_of(kStart +
                    "[nccl]\nversion = \"2.18.3\"\n[strategy]\nname = \"single\"\n[run]\ngpus = [1]\n") ==
        List{"nccl has no effect with strategy single"});
  CHECK(warnings_of(kStart + "[strategy]\nstatic_graph = true\n[run]\ngpus = [1]\n") ==
        List{"strategy.static_graph has no effect on one GPU without wrap_one_gpu"});
  CHECK(warnings_of(kStart + "[strategy]\nstatic_graph = true\nwrap_one_gpu = true\n[run]\ngpus = [1]\n")
            .empty());
  CHECK(warnings_of(kStart + "[strategy]\nstatic_graph = true\nwrapped = false\n") ==
        List{"strategy.static_graph has no effect with wrapped = false"});
  CHECK(warnings_of(kStart + "[strategy]\nwrapped = false\n").empty());
  CHECK(warnings_of(kStart + "[data]\ndrop_last = true\n") ==
        List{"data.drop_last has no effect without data.samples"});
  CHECK(warnings_of(kStart + "[loop]\nloss_item_before_backward = true\n") ==
        List{"loop.loss_item_before_backward has no effect with loss_item_every = 0"});
  // Nothing was asked for, so nothing is left out.
  CHECK(warnings_of(kStart + "[strategy]\nname = \"single\"\n").empty());
}

TEST_CASE("the plain loop trains on one GPU: more are a mistake, and without a list it is one") {
  CHECK(read(kStart + "[strategy]\nname = \"single\"\n").gpus == std::vector<int>{1});
  CHECK_THROWS_WITH(
      read(kStart + "[strategy]\nname = \"single\"\n[run]\ngpus = [1, 2]\n"),
      Catch::Matchers::ContainsSubstring("single cannot run on 2 GPUs: single trains on one GPU"));
}

TEST_CASE("mistakes in a model file are reported with that file's name beside those of the scenario") {
  const std::string path = "foretrain_test_model.toml";
  std::FILE* file = std::fopen(path.c_str(), "w");
  REQUIRE(file != nullptr);
  std::fputs("input = [4]\nlayers = [{ type = \"relu\", kernel = 2 }, { type = \"loss\" }]\n", file);
  std::fclose(file);
  const std::string answer = test::scenario_mistakes("[model]\nname = \"" + path +
                                                     "\"\n[cluster]\nname = \"mahti\"\n[run]\nepochs = -1\n");
  std::remove(path.c_str());
  CHECK_THAT(answer,
             ContainsSubstring("foretrain_test_model.toml:2:28: error: unknown key \"kernel\" in [relu]"));
  CHECK_THAT(answer, ContainsSubstring("s.toml:6:10: error: run.epochs must be a number from 0 to 1000000") &&
                         ContainsSubstring("2 errors"));
}

TEST_CASE("every scenario of the catalog reads without a warning") {
  test::use_source_catalogs();
  const auto names = names_in(CatalogKind::scenarios);
  CHECK(names.size() >= 4);
  for (const std::string& name : names) {
    INFO(name);
    const Scenario scenario = read_scenario(*open_named(CatalogKind::scenarios, name), {});
    CHECK(scenario.name == name);
    if (name.starts_with("chtc-"))
      continue;  // those templates do what earns a warning: four workers on one core, no sampler
    CHECK(scenario.warnings.empty());
  }
}

TEST_CASE("a copied batch of images counts 602,120 bytes a sample") {
  test::use_source_catalogs();
  const Scenario scenario = read_scenario(*open_named(CatalogKind::scenarios, "mahti-resnet50-ddp"), {});
  CHECK(scenario.workload.data.sample_bytes == Bytes{3 * 224 * 224 * 4 + 8});
}

TEST_CASE("periodic work lasts as long as is said, passes over samples, or writes a checkpoint") {
  const std::vector<Periodic> work = read(kStart + R"([run.every]
validation = { samples = 50_000, batch_per_gpu = 250 }
checkpoint = { epochs = 5 }
backup = { bandwidth = "200 MBps" }
sync = { duration = "2 s" }
)")
                                         .periodic;
  REQUIRE(work.size() == 4);
  for (const Periodic& one : work) {
    if (one.name == "validation") CHECK((one.samples == 50'000 && one.batch_per_gpu == 250 && !one.duration));
    if (one.name == "checkpoint")
      CHECK((one.every_epochs == 5 && one.bandwidth == ByteRate{1e9} && !one.duration));
    if (one.name == "backup") CHECK((one.bandwidth == ByteRate{200e6} && one.samples == 0));
    if (one.name == "sync") CHECK((one.duration == seconds(2) && one.bandwidth == ByteRate{}));
  }
}

TEST_CASE("an anchor may say which side it corrects") {
  CHECK_FALSE(read(kStart + "[measured]\nsamples_per_s = 400\n").anchor->scales);
  CHECK(read(kStart + "[measured]\nsamples_per_s = 400\nscales = \"host\"\n").anchor->scales ==
        AnchorSide::host);
  CHECK(read(kStart + "[measured]\nsamples_per_s = 400\nscales = \"input\"\n").anchor->scales ==
        AnchorSide::input);
}

TEST_CASE("a precision that the GPU lacks becomes what the framework does instead, with a warning") {
  const auto settled = [](const std::string& cluster, const std::string& precision) {
    return read("[model]\nname = \"mnist_net\"\nprecision = \"" + precision + "\"\n[cluster]\nname = \"" +
                cluster + "\"\n");
  };
  const Scenario bf16 = settled("puhti", "bf16");
  CHECK(bf16.workload.precision == Precision::bf16);
  REQUIRE(bf16.warnings.size() == 1);
  CHECK(bf16.warnings[0] ==
        "the GPU v100-sxm2-32gb has no bf16, which came with Ampere: matrix products run at its fp32 rate, "
        "tensors take 16 bit");
  const Scenario tf32 = settled("puhti", "tf32");
  CHECK(tf32.workload.precision == Precision::fp32);
  CHECK(tf32.warnings ==
        std::vector<std::string>{"the GPU v100-sxm2-32gb has no tf32, which came with Ampere: fp32 instead"});
  const Scenario fp8 = settled("mahti", "fp8");
  CHECK(fp8.workload.precision == Precision::bf16);
  CHECK(fp8.warnings ==
        std::vector<std::string>{
            "the GPU a100-sxm4-40gb has no fp8, which came with Ada and Hopper: bf16 instead"});
  CHECK(settled("puhti", "fp8").workload.precision == Precision::amp_fp16);
  CHECK(settled("hgx-h100", "fp8").workload.precision == Precision::fp8);
  CHECK(settled("hgx-h100", "fp8").warnings.empty());
  CHECK(settled("puhti", "amp_fp16").warnings.empty());
  const Scenario k80 = settled("m3-k80", "amp_fp16");
  CHECK(k80.workload.precision == Precision::amp_fp16);
  REQUIRE(k80.warnings.size() == 1);
  CHECK_THAT(k80.warnings[0], ContainsSubstring("has no fast 16-bit arithmetic"));
}

TEST_CASE("16-bit weights need a 16-bit precision") {
  const Scenario scenario = read(kStart + "[strategy]\nname = \"ddp\"\n");
  CHECK_FALSE(scenario.workload.half_weights);
  ScenarioOverrides overrides;
  overrides.model = "mnist_net", overrides.cluster = "puhti",
  overrides.settings = {"model.half_weights=true"};
  CHECK(make_scenario(overrides).warnings ==
        std::vector<std::string>{"model.half_weights has no effect in fp32"});
  overrides.settings.emplace_back("model.precision=amp_fp16");
  CHECK(make_scenario(overrides).warnings.empty());
}

}  // namespace schema_scenario_test

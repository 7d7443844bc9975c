// [framework], [loop] and the optimizer's keys: what a version decides, and the mistakes.
#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace framework_section_test {

using namespace foretrain;

namespace {

const std::string kQuestion =
    "[model]\nname = \"mnist_net\"\n[cluster]\nname = \"puhti\"\n[run]\ngpus = [1]\n";

Scenario read(const std::string& more, const ScenarioOverrides& overrides = {}) {
  test::use_source_catalogs();
  return read_scenario({"s.toml", kQuestion + more}, overrides);
}

Scenario with_settings(std::vector<std::string> settings) {
  ScenarioOverrides overrides;
  overrides.settings = std::move(settings);
  return read("", overrides);
}

std::string mistakes(const std::string& more) { return test::scenario_mistakes(kQuestion + more); }

}  // namespace

TEST_CASE(
    "without a framework a scenario runs PyTorch 2.3 eager with packed optimizers and fresh gradients") {
  const Workload work = read("").workload;
  CHECK(work.framework.kind == FrameworkKind::pytorch);
  CHECK(work.framework.execution == Execution::eager);
  CHECK(work.framework.version == FrameworkVersion{2, 3});
  CHECK(work.optimizer.form == OptimizerForm::foreach);
  CHECK(work.loop.zero_grad == TrainingLoop::ZeroGrad::set_to_none);
  CHECK(work.loop.hooks == LoopHooks::none);
}

TEST_CASE("PyTorch before 2.0 loops over tensors and fills gradients, unless a key says otherwise") {
  const Workload old = read("[framework]\nversion = \"1.13\"\n").workload;
  CHECK(old.optimizer.form == OptimizerForm::for_loop);
  CHECK(old.loop.zero_grad == TrainingLoop::ZeroGrad::zero);
  const Workload said =
      read("[framework]\nversion = \"1.13\"\n[loop]\nzero_grad = \"set_to_none\"\n").workload;
  CHECK(said.loop.zero_grad == TrainingLoop::ZeroGrad::set_to_none);
  CHECK(with_settings({"framework.version=1.13", "model.optimizer=sgd", "model.optimizer_form=fused"})
            .workload.optimizer.form == OptimizerForm::fused);
}

TEST_CASE("a version may stand without quotes and keeps its last zero") {
  CHECK(with_settings({"framework.version=1.10"}).workload.framework.version == FrameworkVersion{1, 10});
  CHECK(read("[framework]\nversion = 2.10\n").workload.framework.version == FrameworkVersion{2, 10});
}

TEST_CASE("TensorFlow turns 16-bit convolutions to channels last on Ampere, unless a layout is given") {
  const auto layout = [](const std::string& cluster, const std::string& precision, const std::string& more) {
    test::use_source_catalogs();
    return read_scenario({"s.toml", "[model]\nname = \"mnist_net\"\nprecision = \"" + precision +
                                        "\"\n[cluster]\nname = \"" + cluster +
                                        "\"\n[run]\ngpus = [1]\n[framework]\n" + more},
                         {})
        .workload.framework.layout;
  };
  const std::string tensorflow = "name = \"tensorflow\"\n";
  CHECK(layout("mahti", "amp_fp16", tensorflow) == ImageLayout::channels_last);
  CHECK(layout("mahti", "fp32", tensorflow) == ImageLayout::channels_first);
  CHECK(layout("puhti", "amp_fp16", tensorflow) == ImageLayout::channels_first);  // V100
  CHECK(layout("mahti", "amp_fp16", "") == ImageLayout::channels_first);
  CHECK(layout("mahti", "amp_fp16", tensorflow + "layout = \"channels_first\"\n") ==
        ImageLayout::channels_first);
}

TEST_CASE("NCCL is the one that a given framework version brings along, and one that knows the GPU") {
  const auto version = [](std::vector<std::string> settings) {
    return with_settings(std::move(settings)).collective.nccl.version;
  };
  CHECK(version({}) == nccl::Version{2, 20, 5});
  CHECK(version({"framework.version=1.4"}) == nccl::Version{2, 4, 8});
  CHECK(version({"framework.version=1.0"}) == nccl::Version{2, 3, 7});
  CHECK(version({"framework.version=2.9"}) == nccl::Version{2, 27, 5});
  CHECK(version({"framework.version=1.4", "nccl.version=2.10.3"}) == nccl::Version{2, 10, 3});
  CHECK(version({"framework.name=tensorflow", "framework.version=1.8"}) == nccl::Version{2, 1, 15});
  CHECK(version({"framework.name=tensorflow", "framework.version=2.10"}) == nccl::Version{2, 20, 5});
  CHECK(version({"cluster.name=hgx-b200"}) == nccl::Version{2, 26, 2});
  CHECK(version({"cluster.name=hgx-b200", "nccl.version=2.25.1"}) == nccl::Version{2, 25, 1});
}

TEST_CASE("software names a year, a container or a module, and gives versions of framework and NCCL") {
  struct Row {
    std::string_view software;
    FrameworkVersion version;
    nccl::Version nccl;
  };
  const Row rows[] = {
      {"2020", {1, 6}, {2, 4, 8}},
      {"2020-10", {1, 7}, {2, 7, 8}},
      {"ngc-24.07", {2, 4}, {2, 22, 3}},
      {"nvcr.io/nvidia/pytorch:23.10-py3", {2, 1}, {2, 19, 3}},
      {"pytorch_20.12-py3.sif", {1, 8}, {2, 8, 3}},
      {"pytorch/2.1", {2, 1}, {2, 18, 1}},
      {"pytorch/gpu-cuda-11.6/1.13.0", {1, 13}, {2, 14, 3}},
      {"PyTorch/2.1.2-foss-2023a-CUDA-12.1.1", {2, 1}, {2, 18, 1}},
      {"pytorch/pytorch:1.13.1-cuda11.6-cudnn8-runtime", {1, 13}, {2, 14, 3}},
  };
  for (const Row& row : rows) {
    INFO(row.software);
    const Scenario scenario = with_settings({"framework.software=\"" + std::string(row.software) + "\""});
    CHECK(scenario.workload.framework.version == row.version);
    CHECK(scenario.collective.nccl.version == row.nccl);
  }
  const Scenario stated =
      with_settings({"framework.software=\"ngc-24.07\"", "framework.version=2.2", "nccl.version=2.20.3"});
  CHECK(stated.workload.framework.version == FrameworkVersion{2, 2});
  CHECK(stated.collective.nccl.version == nccl::Version{2, 20, 3});
  const Scenario keras = with_settings({"framework.name=tensorflow", "framework.software=\"ngc-22.03\""});
  CHECK(keras.workload.framework.version == FrameworkVersion{2, 8});
}

TEST_CASE("the CUDA toolkit comes with stated software, and none is known where nothing is stated") {
  struct Row {
    std::string_view setting;
    FrameworkVersion cuda;
  };
  const Row rows[] = {
      {"framework.version=2.0", {11, 7}},
      {"framework.version=2.4", {12, 1}},
      {"framework.version=2.9", {12, 8}},
      {"framework.software=\"ngc-23.10\"", {12, 2}},
      {"framework.software=\"2023\"", {11, 7}},
      {"framework.software=\"PyTorch/2.1.2-foss-2023a-CUDA-12.4.0\"", {12, 4}},
      {"framework.software=\"pytorch/pytorch:2.1.0-cuda11.8-cudnn8-runtime\"", {11, 8}},
      {"framework.software=\"torch-2.1.0+cu118\"", {11, 8}},
      {"framework.software=\"pytorch/gpu-cuda-11.6/1.13.0\"", {11, 6}},
  };
  for (const Row& row : rows) {
    INFO(row.setting);
    CHECK(with_settings({std::string(row.setting)}).workload.framework.cuda == row.cuda);
  }
  CHECK(with_settings({}).workload.framework.cuda == FrameworkVersion{0, 0});
  CHECK(with_settings({"framework.name=tensorflow", "framework.version=2.15"}).workload.framework.cuda ==
        FrameworkVersion{0, 0});
}

TEST_CASE("software that nobody knows, of another framework or without kernels for the GPU is a mistake") {
  const auto mistake = [](const std::string& software, const std::string& more = "") {
    return mistakes("[framework]\nsoftware = \"" + software + "\"\n" + more);
  };
  CHECK_THAT(mistake("1999"), ContainsSubstring("no software of 1999 is known"));
  CHECK_THAT(mistake("ngc-16.01"), ContainsSubstring("names no version that was released"));
  CHECK_THAT(mistake("my-image:latest"),
             ContainsSubstring("my-image:latest names no software that is known"));
  CHECK_THAT(mistake("pytorch/9.9"), ContainsSubstring("pytorch/9.9 names no version that was released"));
  CHECK_THAT(mistake("tensorflow/2.11"),
             ContainsSubstring("tensorflow/2.11 is tensorflow, and this job trains"));
  ScenarioOverrides overrides;
  overrides.settings = {"cluster.name=hgx-b200", "framework.software=\"pytorch/2.3\""};
  CHECK_THAT(
      test::scenario_mistakes(kQuestion, overrides),
      ContainsSubstring("PyTorch 2.3 has no kernels for") && ContainsSubstring("the first that has is 2.6"));
}

TEST_CASE("TensorFlow runs a graph in Keras' loop with one optimizer kernel per variable") {
  const Workload work = with_settings({"framework.name=tensorflow"}).workload;
  CHECK(work.framework.execution == Execution::graph);
  CHECK(work.framework.version == FrameworkVersion{2, 15});
  CHECK(work.optimizer.form == OptimizerForm::variable);
  CHECK(work.loop.hooks == LoopHooks::keras);
  CHECK(with_settings({"framework.name=tensorflow", "loop.hooks=none"}).workload.loop.hooks ==
        LoopHooks::none);
}

TEST_CASE("keys that TensorFlow does not know are said to have no effect") {
  const Scenario scenario =
      with_settings({"framework.name=tensorflow", "model.optimizer_form=fused", "loop.zero_grad=zero"});
  REQUIRE(scenario.warnings.size() == 2);
  CHECK(scenario.warnings[0] == "model.optimizer_form has no effect in TensorFlow");
  CHECK(scenario.warnings[1] == "loop.zero_grad has no effect in TensorFlow");
  CHECK(scenario.workload.optimizer.form == OptimizerForm::variable);
}

TEST_CASE("metrics need a loss that is read") {
  CHECK(with_settings({"loop.metrics=accuracy"}).warnings ==
        std::vector<std::string>{"loop.metrics has no effect with loss_item_every = 0"});
  CHECK(with_settings({"loop.metrics=accuracy", "loop.loss_item_every=1"}).warnings.empty());
}

TEST_CASE("every optimizer and every key of the loop is read") {
  for (const char* name :
       {"sgd", "momentum", "nesterov", "adam", "adamw", "adadelta", "adagrad", "rmsprop", "lamb"}) {
    CHECK(name_of(with_settings({std::string("model.optimizer=") + name}).workload.optimizer.kind) == name);
  }
  const TrainingLoop loop =
      with_settings({"loop.clip_grad_norm=read_back", "loop.hooks=lightning", "loop.progress_bar=true",
                     "loop.profiler=line", "loop.metrics=accuracy"})
          .workload.loop;
  CHECK((loop.clip_grad_norm == GradientClipping::read_back && loop.hooks == LoopHooks::lightning &&
         loop.progress_bar));
  CHECK((loop.profiler == LoopProfiler::line && loop.metrics == LoopMetrics::accuracy));
}

TEST_CASE("a way of running that the framework lacks is a mistake that lists what it has") {
  CHECK_THAT(mistakes("[framework]\nname = \"pytorch\"\nexecution = \"graph\"\n"),
             ContainsSubstring("s.toml:9:13: error: pytorch does not run as graph") &&
                 ContainsSubstring("hint: it offers: eager, compiled, cuda_graphs"));
  CHECK_THAT(mistakes("[framework]\nname = \"tensorflow\"\nexecution = \"cuda_graphs\"\n"),
             ContainsSubstring("tensorflow does not run as cuda_graphs") &&
                 ContainsSubstring("it offers: graph, eager, compiled"));
}

TEST_CASE("a form that an optimizer lacks is a mistake that lists what it has") {
  ScenarioOverrides overrides;
  overrides.settings = {"model.optimizer=adadelta", "model.optimizer_form=fused"};
  CHECK_THAT(
      test::scenario_mistakes(kQuestion, overrides),
      ContainsSubstring("adadelta has no fused form") && ContainsSubstring("it has: foreach, for_loop"));
  overrides.settings = {"model.optimizer=lamb", "model.optimizer_form=foreach"};
  CHECK_THAT(test::scenario_mistakes(kQuestion, overrides),
             ContainsSubstring("lamb has no foreach form") && ContainsSubstring("it has: fused, for_loop"));
}

TEST_CASE("what is no version of a framework is a mistake") {
  for (const char* version : {"\"two\"", "2", "\"0.0\"", "true", "\"\""}) {
    INFO(version);
    CHECK_THAT(mistakes(std::string("[framework]\nversion = ") + version + "\n"),
               ContainsSubstring("framework.version is no version"));
  }
}

TEST_CASE("PyTorch before 1.0 is a version, and one that never was is none") {
  CHECK(with_settings({"framework.version=0.4"}).workload.framework.version == FrameworkVersion{0, 4});
  CHECK(with_settings({"framework.version=2.15"}).workload.framework.version == FrameworkVersion{2, 15});
  for (const char* version : {"1.14", "0.5", "3.0", "9.9", "2.99"}) {
    INFO(version);
    CHECK_THAT(mistakes(std::string("[framework]\nversion = \"") + version + "\"\n"),
               ContainsSubstring(std::string("there is no PyTorch ") + version));
  }
  CHECK_THAT(mistakes("[framework]\nname = \"tensorflow\"\nversion = \"1.16\"\n"),
             ContainsSubstring("there is no TensorFlow 1.16"));
}

TEST_CASE("misspelt frameworks, hooks and optimizers get the nearest name") {
  CHECK_THAT(mistakes("[framework]\nname = \"pytroch\"\n"), ContainsSubstring("pytorch"));
  CHECK_THAT(mistakes("[loop]\nhooks = \"lightening\"\n"), ContainsSubstring("lightning"));
  ScenarioOverrides overrides;
  overrides.settings = {"model.optimizer=rmspop"};
  CHECK_THAT(test::scenario_mistakes(kQuestion, overrides), ContainsSubstring("rmsprop"));
}

TEST_CASE("the trainer that measures gradient noise is one of PyTorch") {
  CHECK(with_settings({"loop.hooks=gradient_noise"}).workload.loop.hooks == LoopHooks::gradient_noise);
  CHECK_THAT(mistakes("[framework]\nname = \"tensorflow\"\n[loop]\nhooks = \"gradient_noise\"\n"),
             ContainsSubstring(
                 "s.toml:10:9: error: the trainer that measures gradient noise (AdaptDL) is one of PyTorch"));
}

}  // namespace framework_section_test

// [parallel]: degrees of a large model as a scenario says them, what follows from them, and the mistakes.
#include "sim/scenario/sections/parallel_section.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"
#include "tests/unit/scenario/mistakes.hpp"

namespace parallel_section_test {

using namespace foretrain;

namespace {

std::string text_with(const std::string& parallel, const std::string& model = "llama3_2_1b") {
  return "[model]\nname = \"" + model + "\"\n[cluster]\nname = \"hgx-h100-400g\"\n[parallel]\n" + parallel;
}

Scenario read(const std::string& parallel, const ScenarioOverrides& overrides = {}) {
  test::use_source_catalogs();
  return read_scenario({"s.toml", text_with(parallel)}, overrides);
}

LargeModelRun job_of(const std::string& parallel) { return *read(parallel).parallel; }

std::string mistakes(const std::string& parallel, const std::string& model = "llama3_2_1b") {
  return test::scenario_mistakes(text_with(parallel, model));
}

}  // namespace

TEST_CASE("degrees on a cluster that cannot be read are one mistake: the cluster") {
  const std::string model = "[model]\nname = \"gpt2\"\n", degrees = "[parallel]\ntensor = 2\n";
  CHECK_THAT(test::scenario_mistakes(model + "[cluster]\nname = \"mahtti\"\n" + degrees),
             ContainsSubstring("unknown cluster \"mahtti\"") && ContainsSubstring("did you mean \"mahti\"?"));
  CHECK_THAT(test::scenario_mistakes(model + degrees), ContainsSubstring("cluster"));
}

TEST_CASE("an empty table is a job of one degree in Megatron-LM's way") {
  const LargeModelRun job = job_of("");
  CHECK(job.degrees == Degrees{.data = 0});  // what the GPUs leave
  CHECK(job.global_batch == 0);
  CHECK(job.micro_batch == 1);
  CHECK(job.sequence == job.shape.sequence);
  CHECK(job.framework == LlmFramework::megatron_te);
  CHECK(job.precision == KernelPrecision::bf16);
  CHECK(job.schedule == PipelineSchedule::one_f_one_b);
  CHECK(job.sharding == ModelSharding::optimizer);
  CHECK(job.sequence_parallel);
  CHECK(job.recompute == Recompute::none);
}

TEST_CASE("a scenario without the table has no job") {
  test::use_source_catalogs();
  const std::string text = "[model]\nname = \"llama3_2_1b\"\n[cluster]\nname = \"hgx-h100-400g\"\n";
  CHECK_FALSE(read_scenario({"s.toml", text}, {}).parallel);
}

TEST_CASE("degrees, batches and the length of sequences are read") {
  const Scenario scenario = read(
      "tensor = 2\npipeline = 4\nvirtual_stages = 2\ncontext = 2\ndata = 4\nmicro_batch = 2\n"
      "global_batch = 128\nsequence = 8192\n[run]\ngpus = [64]\n");
  const LargeModelRun& job = *scenario.parallel;
  CHECK(job.degrees == Degrees{.tensor = 2, .pipeline = 4, .virtual_stages = 2, .context = 2, .data = 4});
  CHECK(job.schedule == PipelineSchedule::interleaved);  // by its chunks
  CHECK(job.micro_batch == 2);
  CHECK(job.sequence == 8192);
  CHECK(scenario.global_batch == 128);
  CHECK(scenario.workload.batch_per_gpu == 2);
  CHECK(scenario.gpus == std::vector<int>{64});
}

TEST_CASE("framework, schedule, sharding and what else is chosen are read") {
  const LargeModelRun job = job_of(
      "framework = \"nanotron\"\nprecision = \"fp8\"\nschedule = \"zb-h1\"\npipeline = 2\nshard = \"none\"\n"
      "sequence_parallel = false\nrecompute = \"full\"\nrecomputed_layers = 3\noffload = \"activations\"\n"
      "context_exchange = \"all_gather\"\ndispatch = \"deep_ep\"\ncapacity_factor = 1.25\nimbalance = 1.5\n"
      "overlap_experts = true\nwide_layers = 2\nnext_tokens = 1\npipeline_skew = \"3 us\"\n"
      "attention = \"flash-1-triton\"\ntensor_overlap = \"pieces\"\noverlap_gradients = "
      "false\ngradient_bytes = 2\ncuda_graphs = true\nrecord_streams = true\n");
  CHECK(job.framework == LlmFramework::nanotron);
  CHECK(job.precision == KernelPrecision::fp8);
  CHECK(job.schedule == PipelineSchedule::zb_h1);
  CHECK(job.sharding == ModelSharding::none);
  CHECK_FALSE(job.sequence_parallel);
  CHECK(job.recompute == Recompute::full);
  CHECK(job.recomputed_layers == 3);
  CHECK(job.offload == Offload::activations);
  CHECK(job.context_exchange == ContextExchange::all_gather);
  CHECK(job.dispatch == TokenDispatch::deep_ep);
  CHECK(job.capacity_factor == 1.25);
  CHECK(job.imbalance == 1.5);
  CHECK(job.tensor_overlap == TensorOverlap::pieces);
  CHECK(job.attention == AttentionKernel::version_1_triton);
  CHECK(job.overlaps_experts);
  CHECK(job.wide_layers == 2);
  CHECK(job.next_tokens == 1);
  CHECK(job.pipeline_skew == microseconds(3));
  CHECK(job.overlaps_gradients == false);
  CHECK(job.gradient_bytes == 2);
  CHECK(job.cuda_graphs);
  CHECK(job.record_streams);
}

TEST_CASE("numbers of GPUs that nobody lists are those that the degrees can use") {
  const std::vector<int> gpus = read("tensor = 2\npipeline = 2\n").gpus;
  REQUIRE(gpus.size() > 2);
  CHECK(gpus[0] == 4);
  CHECK(gpus[1] == 8);
  CHECK(gpus.back() == 4096);  // 512 nodes of 8
  CHECK(read("tensor = 8\ndata = 2\n").gpus == std::vector<int>{16});
}

TEST_CASE("settings of the command line reach the table") {
  ScenarioOverrides overrides;
  overrides.settings = {"parallel.tensor=4", "parallel.schedule=afab", "parallel.pipeline=2"};
  const LargeModelRun job = *read("tensor = 2\n", overrides).parallel;
  CHECK(job.degrees.tensor == 4);
  CHECK(job.schedule == PipelineSchedule::afab);
}

TEST_CASE("a degree that does not divide is a mistake under its value, once for all numbers of GPUs") {
  CHECK(mistakes("tensor = 64\n[run]\ngpus = [64]\n") ==
        R"(s.toml:6:10: error: 64 GPUs: 32 heads do not divide by tensor = 64
  6 | tensor = 64
    |          ^^
  hint: a divisor of 32
)");
  CHECK(mistakes("pipeline = 4\nvirtual_stages = 2\nglobal_batch = 8\nmicro_batch = 1\ndata = 2\nexpert = 2\n"
                 "[run]\ngpus = [8]\n") ==
        R"(s.toml:11:10: error: 8 GPUs: the network has no experts
  11 | expert = 2
     |          ^
  hint: leave the key out
)");
  CHECK(mistakes("context = 3\nsequence = 4096\n[run]\ngpus = [3, 6]\n") ==
        R"(s.toml:6:11: error: 3 GPUs: 4096 tokens of a sequence do not divide by context = 3
  6 | context = 3
    |           ^
  hint: a divisor of 4096
)");
}

TEST_CASE("degrees that do not make the GPUs are a mistake of data, or of the table without it") {
  CHECK_THAT(mistakes("tensor = 2\ndata = 2\n[run]\ngpus = [8]\n"),
             ContainsSubstring("s.toml:7:8: error: 8 GPUs: TP 2 x DP 2 takes 4 GPUs, not 8"));
  CHECK(mistakes("tensor = 2\npipeline = 2\n[run]\ngpus = [10]\n") ==
        R"(s.toml:5:1: error: 10 GPUs: TP 2 x PP 2 x DP 2 takes 8 GPUs, not 10
  5 | [parallel]
    | ^^^^^^^^^^
  hint: tensor x pipeline x context = 4 has to divide 10
)");
}

TEST_CASE("values that a key does not take are mistakes with those it does") {
  CHECK_THAT(mistakes("tensor = 0\n"), ContainsSubstring("s.toml:6:10: error: "));
  CHECK_THAT(mistakes("tensor = 2000000\n"), ContainsSubstring("s.toml:6:10: error: "));
  CHECK_THAT(mistakes("schedule = \"1f1\"\n"), ContainsSubstring("did you mean \"1f1b\"?"));
  CHECK_THAT(mistakes("shard = \"zero1\"\n"), ContainsSubstring("s.toml:6:9: error: "));
  CHECK_THAT(mistakes("imbalance = 0.5\n"), ContainsSubstring("s.toml:6:13: error: "));
  CHECK(mistakes("framework = \"megatorn\"\n") ==
        R"(s.toml:6:13: error: unknown framework "megatorn"
  6 | framework = "megatorn"
    |             ^^^^^^^^^^
  hint: did you mean "megatron"?
)");
}

TEST_CASE("an unknown key gets the nearest one") {
  CHECK_THAT(mistakes("tensors = 2\n"), ContainsSubstring("did you mean \"tensor\"?"));
}

TEST_CASE("a network that is no stack of layers has no degrees") {
  CHECK(mistakes("tensor = 2\n", "resnet50") ==
        R"(s.toml:6:10: error: resnet50 has no degrees: it begins with no embedding
  6 | tensor = 2
    |          ^
  hint: [parallel] is for language models of equal decoder layers, as llama3_8b
)");
}

TEST_CASE("products of degrees beyond any cluster are a mistake, not an overflow") {
  CHECK_THAT(mistakes("tensor = 65536\npipeline = 65536\n"), ContainsSubstring("error: "));
  CHECK_THAT(mistakes("tensor = 1048576\npipeline = 1048576\ndata = 1048576\n"),
             ContainsSubstring("error: "));
  CHECK_THAT(mistakes("micro_batch = 1099511627776\ndata = 1048576\n[run]\ngpus = [8]\n"),
             ContainsSubstring("error: "));
}

TEST_CASE("a job that takes more GPUs than the cluster has is a mistake") {
  // 51,200 and 8,192 of 4,096.
  CHECK_THAT(mistakes("tensor = 32\npipeline = 16\ndata = 100\n"), ContainsSubstring("error: "));
  CHECK_THAT(mistakes("tensor = 8\npipeline = 16\ncontext = 64\nsequence = 8192\n"),
             ContainsSubstring("error: "));
}

TEST_CASE("tensor ranks over nodes are warned of") {
  const std::vector<std::string> warnings =
      read("tensor = 16\nglobal_batch = 16\n[run]\ngpus = [16]\n").warnings;
  CHECK(std::ranges::any_of(warnings, [](const std::string& warning) {
    return warning.find("tensor = 16 spans 2 nodes of 8 GPUs") != std::string::npos;
  }));
}

TEST_CASE("a setting of a measured row changes the job, others are left alone") {
  LargeModelRun job = test::job_of(test::llama3_8b_shape(), {}, 8);
  set_parallel("parallel.gradient_bytes", "2", job);
  set_parallel("parallel.recompute", "\"full\"", job);
  set_parallel("nccl.version", "2.18", job);
  CHECK(job.gradient_bytes == 2);
  CHECK(job.recompute == Recompute::full);
  CHECK_THROWS_AS(set_parallel("parallel.tensor", "\"many\"", job), InputError);
  CHECK_THROWS_AS(set_parallel("parallel.colour", "3", job), InputError);
}

}  // namespace parallel_section_test

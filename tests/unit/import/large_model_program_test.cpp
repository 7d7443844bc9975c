// Layouts in the options of the frameworks that train them, and scripts that read back.
#include "sim/import/jobs/large_model_program.hpp"

#include "sim/import/job_script.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/job_writers.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"

namespace large_model_program_test {

using namespace foretrain;

namespace {

LargeModelRun job_of(LlmFramework framework) {
  LargeModelRun job = test::job_of(test::llama3_8b_shape(), {.tensor = 4, .pipeline = 2, .data = 2}, 16);
  job.framework = framework;
  return job;
}

std::string program_of(const LargeModelRun& job, std::int64_t steps = 0) {
  return large_model_program(job, steps).program;
}

JobPlan plan_of(const LargeModelRun& job) {
  JobPlan plan;
  plan.name = "llama", plan.model = "llama3_8b", plan.cluster = "mahti", plan.strategy = "TP 4 x PP 2 x DP 2";
  plan.nodes = 4, plan.gpus_per_node = 4, plan.processes_per_node = 4, plan.cores_per_node = 128;
  plan.time_limit_s = 7200, plan.global_batch = job.global_batch;
  set_program(job, 1000, plan);
  return plan;
}

}  // namespace

TEST_CASE("Megatron-LM gets degrees, batch and network as options") {
  const std::string line = program_of(job_of(LlmFramework::megatron_te), 500);
  for (const char* option :
       {"pretrain_gpt.py --tensor-model-parallel-size 4 --pipeline-model-parallel-size 2",
        "--sequence-parallel", "--use-distributed-optimizer",
        "--micro-batch-size 1 --global-batch-size 32 --train-iters 500",
        "--num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32",
        "--num-query-groups 8", "--seq-length 4096"})
    CHECK_THAT(line, ContainsSubstring(option));
  LargeModelRun experts = job_of(LlmFramework::megatron_te);
  experts.shape = test::mixtral_8x7b_shape(), experts.degrees.expert = 4;
  CHECK_THAT(program_of(experts), ContainsSubstring("--expert-model-parallel-size 4"));
  CHECK_THAT(program_of(experts), ContainsSubstring("--num-experts 8 --moe-router-topk 2"));
  CHECK_THAT(program_of(job_of(LlmFramework::megatron)), ContainsSubstring("--transformer-impl local"));
}

TEST_CASE("a schedule is asked for where there is an option, else the script says what it runs instead") {
  LargeModelRun job = job_of(LlmFramework::megatron_te);
  CHECK(large_model_program(job, 0).before.find("schedule") == std::string::npos);
  job.schedule = PipelineSchedule::dualpipe;
  CHECK_THAT(large_model_program(job, 0).before,
             ContainsSubstring("# no option asks for the schedule dualpipe: as it stands this runs 1f1b"));
  job.framework = LlmFramework::torchtitan, job.schedule = PipelineSchedule::zbv;
  CHECK_THAT(program_of(job), ContainsSubstring("--parallelism.pipeline_parallel_schedule ZBVZeroBubble"));
  job.schedule = PipelineSchedule::one_f_one_b;
  CHECK(program_of(job).find("pipeline_parallel_schedule") == std::string::npos);
}

TEST_CASE("the other frameworks get their own words") {
  LargeModelRun titan = job_of(LlmFramework::torchtitan);
  titan.sharding = ModelSharding::parameters;
  CHECK_THAT(program_of(titan), ContainsSubstring("--parallelism.tensor_parallel_degree 4"));
  CHECK_THAT(program_of(titan), ContainsSubstring("--parallelism.data_parallel_shard_degree 2"));
  CHECK_THAT(program_of(titan), ContainsSubstring("--parallelism.pipeline_parallel_degree 2"));
  const LargeModelProgram nano = large_model_program(job_of(LlmFramework::nanotron));
  CHECK(nano.program == "run_train.py --config-file config.yaml");
  CHECK_THAT(nano.before, ContainsSubstring("dp: 2, tp: 4, pp: 2"));
  CHECK_THAT(nano.before, ContainsSubstring("batch_accumulation_per_replica: 16"));
  LargeModelRun zero = job_of(LlmFramework::deepspeed);
  zero.sharding = ModelSharding::gradients;
  const LargeModelProgram deep = large_model_program(zero);
  CHECK(deep.launcher == Launcher::deepspeed);
  CHECK_THAT(deep.before, ContainsSubstring("\"zero_optimization\": {\"stage\": 2}"));
  CHECK_THAT(deep.program, ContainsSubstring("--zero-stage 2"));
  LargeModelRun foundry = job_of(LlmFramework::llm_foundry);
  foundry.sharding = ModelSharding::parameters;
  CHECK_THAT(program_of(foundry), ContainsSubstring("fsdp_config.sharding_strategy=FULL_SHARD"));
  CHECK(program_of(job_of(LlmFramework::maxtext)).empty());
}

TEST_CASE("a script for a large model is read back to the same request and launch") {
  for (const LlmFramework framework : {LlmFramework::megatron_te, LlmFramework::nanotron,
                                       LlmFramework::deepspeed, LlmFramework::llm_foundry}) {
    const JobPlan plan = plan_of(job_of(framework));
    const std::string text = write_sbatch(plan);
    INFO(text);
    CHECK_THAT(text, ContainsSubstring("#SBATCH --time=0-02:00:00"));
    const JobScript script = read_job_script({"job.sh", text});
    CHECK(script.not_understood.empty());
    CHECK(script.resources.nodes->value == 4);
    CHECK(script.resources.gpus_per_node->value == 4);
    REQUIRE(script.launch.processes_per_node);
    CHECK(script.launch.processes_per_node->value == 4);
  }
}

TEST_CASE("a long launch line goes on over lines that a shell joins") {
  const std::string text = write_sbatch(plan_of(job_of(LlmFramework::megatron_te)));
  CHECK_THAT(text, ContainsSubstring(" \\\n    --"));
  const std::size_t launch = text.find("srun torchrun");
  REQUIRE(launch != std::string::npos);
  for (std::size_t begin = launch; begin < text.size(); begin = text.find('\n', begin) + 1) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) break;
    CHECK(end - begin < 140);
  }
}

}  // namespace large_model_program_test

// Settings that a job script names: files beside it, arguments of its program, variables, options of
// horovodrun.
#include "sim/import/job_settings.hpp"

#include "sim/import/settings/readers.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace job_settings_test {

using namespace foretrain;

namespace {

struct Read {
  JobScript script;
  JobSettings settings;
  std::string scenario;
};

Read read(const std::string& commands, const std::string& file_text = "") {
  const SourceText text{"job.sh",
                        "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH "
                        "--gres=gpu:a100:4\n" +
                            commands + "\n"};
  const ScriptFinder find = [&](const std::string& name) -> std::optional<SourceText> {
    if (file_text.empty()) return std::nullopt;
    return SourceText{name, file_text};
  };
  Read out{read_job_script(text, find), {}, {}};
  out.settings = read_job_settings(text, out.script, find);
  JobScenarioOptions options{"resnet50"};
  options.settings = out.settings.files;
  out.scenario = write_job_scenario(out.script, test::cluster_of("mahti"), options);
  return out;
}

bool says(const Read& job, const std::string& line) {
  return job.scenario.find("\n" + line) != std::string::npos;
}

}  // namespace

TEST_CASE("a DeepSpeed file that a program is given decides the stage") {
  const Read job = read("srun torchrun --nnodes=2 --nproc_per_node=4 train.py --deepspeed ds.json",
                        R"({"train_micro_batch_size_per_gpu": 4, "zero_optimization": {"stage": 2}})");
  CHECK(says(job, "name = \"zero2\""));
  CHECK(says(job, "batch_per_gpu = 4"));
  CHECK(job.scenario.find("ds.json:1: zero_optimization.stage") != std::string::npos);
}

TEST_CASE("without the file the stage stays open, and that is said") {
  const Read job = read("deepspeed train.py --deepspeed_config ds.json");
  CHECK(says(job, "name = \"zero0\""));
  REQUIRE(job.script.remarks.size() == 1);
  CHECK(job.script.remarks[0].why.find("does not lie beside") != std::string::npos);
}

TEST_CASE("accelerate's file says how many processes there are") {
  const Read job = read("srun accelerate launch --config_file a.yaml train.py",
                        "distributed_type: FSDP\nnum_machines: 2\nnum_processes: 8\n");
  REQUIRE(job.script.launch.processes_per_node);
  CHECK(job.script.launch.processes_per_node->value == 4);
  CHECK(job.script.not_understood.empty());
  CHECK(says(job, "name = \"fsdp\""));
}

TEST_CASE("options of accelerate win over its file") {
  const Read job = read(
      "srun accelerate launch --config_file a.yaml --use_fsdp --fsdp_sharding_strategy SHARD_GRAD_OP "
      "train.py",
      "distributed_type: MULTI_GPU\nmixed_precision: bf16\nnum_machines: 2\nnum_processes: 8\n");
  CHECK(says(job, "name = \"fsdp\""));
  CHECK(says(job, "sharding = \"shard_grad_op\""));
  CHECK(says(job, "precision = \"bf16\""));
  const Read zero =
      read("srun accelerate launch --num_processes 8 --num_machines 2 --use_deepspeed --zero_stage 3 t.py");
  CHECK(says(zero, "name = \"zero3\""));
}

TEST_CASE("what the program is told counts before a file") {
  const Read job =
      read("srun torchrun --nnodes=2 --nproc_per_node=4 train.py --batch-size 16 --deepspeed ds.json",
           R"({"train_micro_batch_size_per_gpu": 4})");
  CHECK(says(job, "batch_per_gpu = 16"));
}

TEST_CASE("a contradiction between the file and the job is a mistake of the file") {
  const Read job = read("srun torchrun --nnodes=2 --nproc_per_node=4 train.py --deepspeed ds.json",
                        R"({"train_batch_size": 100, "train_micro_batch_size_per_gpu": 4})");
  REQUIRE(job.settings.mistakes.size() == 1);
  CHECK(job.settings.mistakes[0].file == "ds.json");
}

TEST_CASE("a file of the program's own making is passed over") {
  const Read job =
      read("srun torchrun --nnodes=2 --nproc_per_node=4 train.py --config my.yaml", "colour: blue\n");
  CHECK(job.settings.files.empty());
  CHECK(job.settings.mistakes.empty());
}

TEST_CASE("arguments of Megatron-LM and of Hugging Face are read from the launch line") {
  const Read megatron = read(
      "srun torchrun --nnodes=2 --nproc_per_node=4 pretrain_gpt.py --tensor-model-parallel-size 2 "
      "--micro-batch-size 4 --global-batch-size 64 --bf16");
  REQUIRE(megatron.settings.files.size() == 1);
  CHECK(megatron.settings.files[0].format == "Megatron-LM arguments");
  CHECK(says(megatron, "tensor = 2"));
  CHECK(says(megatron, "global_batch = 64"));
  CHECK(says(megatron, "gpus = [8]"));
  CHECK_FALSE(says(megatron, "[strategy]"));
  const Read trainer = read(
      "srun torchrun --nnodes=2 --nproc_per_node=4 run_mlm.py --per_device_train_batch_size 8 "
      "--fsdp full_shard --bf16");
  CHECK(says(trainer, "hooks = \"huggingface\""));
  CHECK(says(trainer, "sharding = \"full_shard\""));
}

TEST_CASE("variables count for the strategy that runs") {
  const Read horovod = read(
      "export HOROVOD_FUSION_THRESHOLD=1048576\nmpirun -np 8 -x HOROVOD_CYCLE_TIME=2 -x "
      "NCCL_ALGO=Tree python train.py");
  CHECK(says(horovod, "name = \"horovod\""));
  CHECK(says(horovod, "fusion_threshold = \"1 MiB\""));
  CHECK(says(horovod, "cycle_time = \"2 ms\""));
  CHECK(says(horovod, "algorithm = \"tree\""));
  const Read ddp =
      read("export HOROVOD_FUSION_THRESHOLD=1048576\nsrun torchrun --nnodes=2 --nproc_per_node=4 train.py");
  CHECK(says(ddp, "name = \"ddp\""));
  CHECK_FALSE(says(ddp, "fusion_threshold"));
}

TEST_CASE("options of horovodrun are settings of Horovod") {
  const Read job = read("horovodrun -np 8 --fusion-threshold-mb 32 --cycle-time-ms 3.5 python train.py");
  CHECK(says(job, "fusion_threshold = \"32 MiB\""));
  CHECK(says(job, "cycle_time = \"3.5 ms\""));
}

}  // namespace job_settings_test

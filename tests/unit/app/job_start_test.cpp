// Jobs that cannot start have no step time, and what the check says is what the prediction counts with.
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace job_start_test {

using namespace foretrain::test;

namespace {

/// Two nodes, eight processes, and no srun: all start on the first node, which has four GPUs.
const std::string kCannotStart =
    "#!/bin/bash\n#SBATCH --partition=gpu\n#SBATCH --nodes=2\n#SBATCH --ntasks-per-node=1\n#SBATCH "
    "--cpus-per-task=40\n#SBATCH --gres=gpu:v100:4\n#SBATCH --time=08:00:00\naccelerate launch "
    "--num_processes 8 train.py --batch_size 32\n";

std::string torchrun_with(int cpus) {
  const std::string asked = cpus == 0 ? "" : "#SBATCH --cpus-per-task=" + std::to_string(cpus) + "\n";
  return "#!/bin/bash\n#SBATCH --gres=gpu:4\n#SBATCH --time=01:00:00\n" + asked +
         "torchrun --nnodes=1 --nproc_per_node=4 main.py --batch_size 64\n";
}

/// Of the first point of a prediction.
double number_behind(const std::string& text, const std::string& key) {
  const std::size_t points = text.find("\"points\":"), at = text.find("\"" + key + "\":", points);
  REQUIRE(at != std::string::npos);
  return std::stod(text.substr(at + key.size() + 3));
}

}  // namespace

TEST_CASE("a job that cannot start has no table, and job check ends with 1") {
  const TemporaryFolder folder;
  folder.write("job.sbatch", kCannotStart);
  const ProgramRun check = folder.run("foretrain job check job.sbatch --cluster puhti --model resnet50");
  INFO(check.output);
  CHECK(check.exit_code == 1);
  CHECK_THAT(check.output, ContainsSubstring("job.sbatch:8:1: error: 8 processes on a node for 4 GPUs: NCCL "
                                             "refuses two on one GPU"));
  const ProgramRun json = folder.run("foretrain job check job.sbatch --cluster puhti --format json");
  CHECK(json.exit_code == 1);
  CHECK_THAT(json.output, ContainsSubstring("\"can_start\": false"));
  CHECK_THAT(json.output, ContainsSubstring("\"severity\": \"error\""));
  const ProgramRun predicted = folder.run("foretrain predict job.sbatch --cluster puhti --model resnet50");
  CHECK(predicted.exit_code == 1);
  CHECK_THAT(predicted.output, ContainsSubstring("8 processes on a node for 4 GPUs"));
  CHECK_THAT(predicted.output, !ContainsSubstring("samples/s"));
}

TEST_CASE("warnings end job check with 0, with --strict with 1") {
  const TemporaryFolder folder;
  folder.write("job.sbatch", torchrun_with(4));
  const std::string line = "foretrain job check job.sbatch --cluster dgx-a100";
  const ProgramRun plain = folder.run(line);
  INFO(plain.output);
  CHECK(plain.exit_code == 0);
  CHECK_THAT(plain.output, ContainsSubstring("warning: "));
  const ProgramRun strict = folder.run(line + " --strict");
  CHECK(strict.exit_code == 1);
  CHECK_THAT(strict.output, ContainsSubstring("and --strict takes each for a mistake"));
  folder.write("good.sbatch",
               "#!/bin/bash\n#SBATCH --gres=gpu:8\n#SBATCH --cpus-per-task=64\nsrun torchrun "
               "--nproc_per_node=8 t.py\n");
  CHECK(folder.run("foretrain job check good.sbatch --cluster dgx-a100 --strict").exit_code == 0);
}

TEST_CASE("a text of which nothing is understood is not one in which nothing is wrong") {
  const TemporaryFolder folder;
  folder.write("job.sh", "#!/bin/bash\nllamafactory-cli train a.yaml\n");
  const ProgramRun run = folder.run("foretrain job check job.sh");
  INFO(run.output);
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring("nothing was recognised"));
  CHECK_THAT(run.output, !ContainsSubstring("nothing wrong is seen"));
  folder.write("open.sh", "#!/bin/bash\n#SBATCH --gres=gpu:8\n#SBATCH -c 64\n./run_it\n");
  CHECK_THAT(folder.run("foretrain job check open.sh --cluster dgx-a100").output,
             ContainsSubstring("nothing wrong is seen in what was recognised\nnot checked: how the training "
                               "starts; no line was recognised"));
}

TEST_CASE("NQSV is named and refused") {
  const TemporaryFolder folder;
  folder.write("job.sh",
               "#!/bin/bash\n#PBS -A NBB\n#PBS -q gpu\n#PBS -T openmpi\n#PBS -b 8\n#PBS -l "
               "elapstim_req=00:10:00\nmpirun -np 8 bash ./launch.sh\n");
  const ProgramRun run = folder.run("foretrain job check job.sh");
  CHECK(run.exit_code == 1);
  CHECK_THAT(run.output, ContainsSubstring("job.sh:4:1: error: is a script for NQSV, which is not read"));
}

TEST_CASE("fewer CPUs than GPUs make a step longer, also where none are asked for") {
  const TemporaryFolder folder;
  REQUIRE(folder.run("foretrain topology new --gpu rtx-8000 --gpus-per-node 4 -o node.toml").exit_code == 0);
  double before = 1e9;
  std::string unasked;
  for (const int cpus : {0, 1, 2, 4, 16}) {
    folder.write("job.sbatch", torchrun_with(cpus));
    const ProgramRun run = folder.run(
        "foretrain predict job.sbatch --cluster ./node.toml --model mnist_net --set data.name=mnist --gpus 4 "
        "--format json");
    INFO(run.output);
    REQUIRE(run.exit_code == 0);
    const double step = number_behind(run.output, "step_s");
    if (cpus == 1) CHECK(step == Approx(before));  // without a word Slurm gives one
    CHECK(step <= before * (1 + 1e-9));
    if (cpus == 4) CHECK(step < 0.6 * before);
    before = step;
  }
}

TEST_CASE("one process that drives all GPUs has the script's batch, workers and CPUs for all of them") {
  const TemporaryFolder folder;
  folder.write("job.sbatch",
               "#!/bin/bash\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:4\n#SBATCH "
               "--ntasks-per-node=1\n#SBATCH --cpus-per-task=16\npython train.py --num_workers "
               "12 --batch-size 48\n");
  const std::string rest =
      " --model resnet50 --cluster dgx-a100 --precision amp_fp16 --set data.samples=12000 --set "
      "data.decode=\"20 ms\" --format json";
  for (const char* strategy : {"data_parallel", "mirrored"}) {
    INFO(strategy);
    const ProgramRun four =
        folder.run("foretrain predict job.sbatch --gpus 4 --strategy " + std::string(strategy) + rest);
    INFO(four.output);
    REQUIRE(four.exit_code == 0);
    CHECK(number_behind(four.output, "global_batch") == 48);
    // Twelve workers of 20 ms a sample bound it, however many GPUs there are: at most 600 samples/s.
    CHECK(number_behind(four.output, "samples_per_s") < 600);
    const ProgramRun one =
        folder.run("foretrain predict job.sbatch --gpus 1 --strategy " + std::string(strategy) + rest);
    CHECK(number_behind(four.output, "samples_per_s") ==
          Approx(number_behind(one.output, "samples_per_s")).epsilon(0.1));
  }
  const ProgramRun check =
      folder.run("foretrain job check job.sbatch --cluster dgx-a100 --set strategy.name=data_parallel");
  CHECK_THAT(check.output, !ContainsSubstring("one process for 4 GPUs"));
}

TEST_CASE("Trainer in one process is DataParallel") {
  const TemporaryFolder folder;
  folder.write("job.sbatch",
               "#!/bin/bash\n#SBATCH --gres=gpu:4\n#SBATCH -c 64\npython run_glue.py "
               "--per_device_train_batch_size 16 --output_dir o\n");
  const ProgramRun run =
      folder.run("foretrain job show job.sbatch --cluster dgx-a100 --model bert_base_s128");
  INFO(run.output);
  CHECK_THAT(run.output, ContainsSubstring("name = \"data_parallel\""));
  CHECK_THAT(run.output, ContainsSubstring("Trainer in one process is DataParallel"));
  CHECK_THAT(run.output, ContainsSubstring("batch_per_gpu = 16"));
}

TEST_CASE("a network that Megatron-LM cuts is predicted by its own layout") {
  const TemporaryFolder folder;
  const std::string head =
      "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n#SBATCH --ntasks-per-node=1\n#SBATCH "
      "--cpus-per-task=96\n";
  const std::string model =
      "M=( --num-layers 32 --hidden-size 4096 --num-attention-heads 32 --seq-length 4096 "
      "--max-position-embeddings 4096 )\n";
  folder.write("job.sh", head + model +
                             "srun torchrun --nproc_per_node 8 --nnodes 2 --rdzv_endpoint=$H:1 "
                             "pretrain_gpt.py ${M[@]} --tensor-model-parallel-size 2 "
                             "--pipeline-model-parallel-size 4 --micro-batch-size 1 --global-batch-size 64 "
                             "--bf16\n");
  const ProgramRun run = folder.run("foretrain predict job.sh --cluster hgx-h100-400g --format json");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK(number_behind(run.output, "gpus") == 16);
  CHECK(number_behind(run.output, "global_batch") == 64);
  folder.write("too_big.sh",
               "#!/bin/bash\n#SBATCH --gpus-per-node=8\n#SBATCH --cpus-per-task=96\nsrun torchrun "
               "--nproc_per_node 8 pretrain_gpt.py --num-layers 96 --hidden-size 12288 --num-attention-heads "
               "96 --seq-length 2048 --tensor-model-parallel-size 8 --pipeline-model-parallel-size 16 "
               "--micro-batch-size 1 --global-batch-size 1536 --fp16\n");
  const ProgramRun big = folder.run("foretrain job check too_big.sh --cluster hgx-h100-400g");
  CHECK(big.exit_code == 1);
  CHECK_THAT(big.output, ContainsSubstring("TP 8 x PP 16 needs 128 GPUs, the job has 8"));
}

TEST_CASE("plan writes a job that the check finds nothing wrong with and that is predicted as planned") {
  const TemporaryFolder folder;
  for (const char* model : {"llama2_7b", "gpt3_13b", "llama2_70b"}) {
    INFO(model);
    const std::string named = std::string(" --cluster hgx-h100-400g");
    const ProgramRun plan = folder.run("foretrain plan --model " + std::string(model) + named +
                                       " --gpus 32 --set data.samples=1000000 --sbatch job.sh --format json");
    INFO(plan.output);
    REQUIRE(plan.exit_code == 0);
    CHECK(folder.run("foretrain job check job.sh --strict" + named).exit_code == 0);
    const ProgramRun predicted = folder.run("foretrain predict job.sh --format json" + named);
    INFO(predicted.output);
    REQUIRE(predicted.exit_code == 0);
    const std::size_t first = plan.output.find("\"step_s\":");
    REQUIRE(first != std::string::npos);
    CHECK(number_behind(predicted.output, "step_s") ==
          Approx(std::stod(plan.output.substr(first + 9))).epsilon(0.02));
  }
}

TEST_CASE("machines of accelerate are nodes of the job") {
  const TemporaryFolder folder;
  folder.write("acc.yaml",
               "compute_environment: LOCAL_MACHINE\ndistributed_type: MULTI_GPU\nmixed_precision: "
               "bf16\nnum_machines: 2\nnum_processes: 8\nmachine_rank: 0\n");
  const ProgramRun run = folder.run(
      "foretrain predict --settings acc.yaml --model bert_large_s384 --cluster hgx-h100-400g --format json");
  INFO(run.output);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("\"gpus\": 8,\n      \"nodes\": 2,"));
}

TEST_CASE("adapters that are not modelled give no verdict about memory") {
  const TemporaryFolder folder;
  folder.write("lf.yaml",
               "model_name_or_path: a/b\nfinetuning_type: oft\nper_device_train_batch_size: 1\nbf16: true\n");
  const std::string line =
      "foretrain predict --settings lf.yaml --model llama3_8b --cluster hgx-h100-400g --gpus 8";
  const ProgramRun run = folder.run(line);
  INFO(run.output);
  CHECK_THAT(run.output,
             StartsWith("Cannot say how long: finetuning_type = oft (lf.yaml:2) is not modelled. It trains "
                        "adapters only,\n"));
  const ProgramRun ignored = folder.run(line + " --ignore finetuning_type");
  CHECK_THAT(ignored.output, ContainsSubstring("finetuning_type is ignored"));
  const ProgramRun other = folder.run(line + " --ignore oft");
  CHECK(other.exit_code == 1);
  CHECK_THAT(other.output, ContainsSubstring("--ignore oft: nothing of that name"));
  folder.write(
      "lf.yaml",
      "model_name_or_path: a/b\nfinetuning_type: full\nper_device_train_batch_size: 1\nbf16: true\n");
  CHECK_THAT(folder.run(line).output, StartsWith("llama3_8b does not fit on 8 GPUs"));
}

TEST_CASE("options of another strategy in a settings file are left out with a note") {
  const TemporaryFolder folder;
  folder.write("args.json",
               "{\"per_device_train_batch_size\":4,\"bf16\":true,\"ddp_find_unused_parameters\":false}\n");
  const ProgramRun run = folder.run(
      "foretrain predict --model gpt2 --cluster dgx-a100 --settings args.json --strategy zero2 --gpus 2");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("ddp_find_unused_parameters is left out: zero2 does not have it"));
}

}  // namespace job_start_test

// The scenario that a job script becomes.
#include "sim/import/job_scenario.hpp"

#include "sim/scenario/scenario.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace job_scenario_test {

using namespace foretrain;

namespace {

std::string toml(const std::string& directives, const std::string& commands,
                 const std::string& cluster = "puhti") {
  return write_job_scenario(test::slurm(directives, commands), test::cluster_of(cluster),
                            {"resnet50", false});
}

Scenario scenario(const std::string& directives, const std::string& commands,
                  const std::string& cluster = "puhti") {
  return read_scenario({"s.toml", toml(directives, commands, cluster)}, {});
}

}  // namespace

TEST_CASE("every line of the scenario names the line of the script it comes from") {
  CHECK(toml("--partition=gpu\n--nodes=2\n--gres=gpu:v100:4\n--cpus-per-task=40",
             "srun torchrun --nnodes=2 --nproc_per_node=4 train.py --batch-size 64 --epochs 90 --workers 8 "
             "--fp16\n") ==
        R"([model]
name = "resnet50"               # --model
batch_per_gpu = 64              # line 6: --batch-size, of a process
precision = "amp_fp16"          # line 6: --fp16

[data]
workers_per_gpu = 8             # line 6: --workers
cores_per_gpu = 10              # 40 CPUs of a node for 4 GPUs

[strategy]
name = "ddp"                    # line 6: torchrun, and no strategy is named

[launch]
with = "torchrun"               # line 6: torchrun
processes_per_node = 4          # line 6

[cluster]
name = "puhti"                  # line 2

[run]
gpus = [1, 8]                   # line 4: 8 reserved
epochs = 90                     # line 6: --epochs
)");
}

TEST_CASE("strategies follow from the launcher or from what the program is told") {
  CHECK(scenario("--gres=gpu:4\n--ntasks=4", "horovodrun -np 4 python t.py").strategy == "horovod");
  CHECK(scenario("--gres=gpu:4", "deepspeed t.py").strategy == "zero0");
  CHECK(scenario("--gres=gpu:4", "accelerate launch --use_fsdp --num_processes 4 t.py").strategy == "fsdp");
  CHECK(scenario("--gres=gpu:2", "python t.py --distribution_strategy=mirrored --batch_size=128").strategy ==
        "mirrored");
  CHECK(scenario("--gres=gpu:2", "python t.py --distribution_strategy=mirrored --batch_size=128")
            .global_batch == 128);
  CHECK(scenario("--gres=gpu:4\n--ntasks=4", "srun python t.py --strategy deepspeed_stage_2").strategy ==
        "zero2");
}

TEST_CASE("one python process on four GPUs is launched as that") {
  const Scenario one = scenario("--gres=gpu:4", "python t.py");
  CHECK(one.strategy == "ddp");
  CHECK(one.launch.with == Launcher::python);
  CHECK(one.gpus == std::vector<int>{1, 4});
}

TEST_CASE("the cores of a node are shared by the GPUs that work") {
  CHECK_THAT(toml("--gres=gpu:4\n--cpus-per-task=40", "torchrun --nproc_per_node=2 t.py --workers 4"),
             ContainsSubstring("cores_per_gpu = 20 "));
  CHECK_THAT(toml("--gres=gpu:4\n--cpus-per-task=40", "python t.py --workers 4 --strategy dp"),
             ContainsSubstring("cores_per_gpu = 40 "));
}

TEST_CASE("modules and containers say which software runs, and NCCL comes with it") {
  const std::string launch = "torchrun --nproc_per_node=4 t.py";
  CHECK_THAT(toml("--gres=gpu:4", "module load pytorch/2.1\n" + launch),
             ContainsSubstring("[framework]\nsoftware = \"pytorch/2.1\"") && ContainsSubstring("# line 3"));
  const Scenario inside =
      scenario("--gres=gpu:4", "ml pytorch/2.1\napptainer exec --nv images/pytorch_22.03-py3.sif " + launch);
  CHECK(inside.workload.framework.version == FrameworkVersion{1, 12});
  CHECK(inside.collective.nccl.version == nccl::Version{2, 12, 9});
  CHECK(scenario("--gres=gpu:4", "srun --container-image=nvcr.io#nvidia/pytorch:24.07-py3 " + launch)
            .collective.nccl.version == nccl::Version{2, 22, 3});
  CHECK_THAT(toml("--gres=gpu:4", "module load gcc/13 tensorflow/2.11\n" + launch),
             !ContainsSubstring("[framework]"));
  CHECK_THAT(toml("--gres=gpu:4", "module load python-data\n" + launch), !ContainsSubstring("[framework]"));
  CHECK_THAT(toml("--gres=gpu:4", "if test -e x; then module load pytorch/1.13; fi\n" + launch),
             !ContainsSubstring("[framework]"));
}

TEST_CASE("a script without a launch line leaves strategy and launch open") {
  const Scenario open = scenario("--gres=gpu:2", "");
  CHECK_FALSE(open.launch.with);
  CHECK(open.gpus == std::vector<int>{1, 2});
}

TEST_CASE("values out of range and names with quotes make no wrong TOML") {
  CHECK_NOTHROW(scenario(
      "--gres=gpu:2",
      "torchrun --nproc_per_node=900 'a\"b.py' --epochs 99999999999999999999 --batch-size 0 --workers -3\n"));
  CHECK_NOTHROW(scenario("--gres=gpu:2", "torchrun --nproc_per_node=2 t.py $'\\n' --strategy \"x\n\"\n"));
}

}  // namespace job_scenario_test

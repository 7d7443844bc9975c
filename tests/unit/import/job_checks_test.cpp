// What is said of scripts that cannot run, or hardly as meant.
#include "sim/import/job_checks.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace job_checks_test {

using namespace foretrain;

namespace {

std::string text_of(const std::string& directives, const std::string& commands) {
  std::string text = "#!/bin/bash\n";
  for (const char c : "#SBATCH " + directives + "\n")
    text += c == ';' ? std::string("\n#SBATCH ") : std::string(1, c);
  return text + commands;
}

JobFindings check(const std::string& directives, const std::string& commands, const std::string& cluster) {
  const SourceText source{"job.sh", text_of(directives, commands)};
  return check_job(read_job_script(source), source, test::cluster_of(cluster));
}

std::string refused(const std::string& directives, const std::string& cluster,
                    const std::string& commands = "") {
  const JobFindings findings = check(directives, commands, cluster);
  return findings.refused.empty() ? "" : format(findings.refused);
}

std::string warned(const std::string& directives, const std::string& commands,
                   const std::string& cluster = "puhti") {
  std::string out;
  for (const Diagnostic& warning : check(directives, commands, cluster).warnings)
    out += one_line(warning) + "\n";
  return out;
}

}  // namespace

TEST_CASE("more GPUs than the partition gives are refused with line and caret") {
  CHECK(refused("--partition=gpusmall;--gres=gpu:a100:4", "mahti") ==
        R"(job.sh:3:9: error: 4 GPUs, but a job gets at most 2 in partition gpusmall of mahti
  3 | #SBATCH --gres=gpu:a100:4
    |         ^^^^^^^^^^^^^^^^^
  hint: --partition=gpumedium
)");
}

TEST_CASE("requests that no node can satisfy are refused, all at once") {
  const std::string text = refused(
      "--nodes=30;--ntasks-per-node=8;--cpus-per-task=40;--gres=gpu:v100:8;--mem=800G;--partition=gpu;--time="
      "4-00:00:00",
      "puhti");
  CHECK_THAT(text, ContainsSubstring("job.sh:5:9: error: 8 GPUs on each node, but nodes of puhti have 4"));
  CHECK_THAT(text, ContainsSubstring("job.sh:4:9: error: 8 tasks with 40 CPUs each are 320 CPUs on a node, "
                                     "but nodes of puhti have 40 cores"));
  CHECK_THAT(text, ContainsSubstring("job.sh:6:9: error: 800.0 GiB of memory"));
  CHECK_THAT(text, ContainsSubstring("job.sh:8:9: error: a time limit of 4-00:00:00, but jobs in partition "
                                     "gpu of puhti end after 3-00:00:00"));
  CHECK_THAT(text, ContainsSubstring("job.sh:2:9: error: 30 nodes, but a job gets at most 20"));
  CHECK_THAT(refused("--nodes=100;--gres=gpu:v100:4", "puhti"),
             ContainsSubstring("100 nodes, but puhti has 80"));
}

TEST_CASE("no GPU, no node, a slice of a GPU and too many tasks are refused") {
  CHECK_THAT(refused("--time=10", "puhti"), ContainsSubstring("reserves no GPU"));
  CHECK_THAT(refused("--gres=gpu:0", "puhti"), ContainsSubstring("job.sh:2:9: error: reserves no GPU"));
  CHECK_THAT(refused("--nodes=0;--gres=gpu:1", "puhti"), ContainsSubstring("reserves no node"));
  CHECK_THAT(refused("--gres=gpu:a100_1g.5gb:1", "mahti"), ContainsSubstring("is a slice of a GPU"));
  CHECK_THAT(refused("--nodes=1;--ntasks=8;--ntasks-per-node=4;--gres=gpu:4", "puhti"),
             ContainsSubstring("8 tasks, but 1 node with 4 tasks each have room for 4"));
}

TEST_CASE("more CPUs than cores are a doubt, as long as hardware threads could be meant") {
  CHECK(refused("--cpus-per-task=128;--gres=gpu:4;--constraint=gpu", "perlmutter").empty());
  CHECK_THAT(warned("--cpus-per-task=128;--gres=gpu:4", "", "perlmutter"),
             ContainsSubstring("only where hardware threads count"));
  CHECK_THAT(refused("--cpus-per-task=128;--hint=nomultithread;--gres=gpu:4", "perlmutter"),
             ContainsSubstring("128 CPUs on a node"));
}

TEST_CASE("reserved GPUs that nothing uses") {
  CHECK_THAT(warned("--gres=gpu:4;--cpus-per-task=40", "srun torchrun --nproc_per_node=2 t.py"),
             ContainsSubstring("job.sh:4: 2 of 4 GPUs on a node will idle: 2 processes there"));
  CHECK_THAT(warned("--gres=gpu:4", "python t.py"), ContainsSubstring("job.sh:3: one process for 4 GPUs"));
  CHECK_THAT(warned("--gres=gpu:1", "python t.py --no-cuda"),
             ContainsSubstring("--no-cuda tells the program to use none"));
}

TEST_CASE("srun is missing") {
  CHECK_THAT(warned("--nodes=2;--gres=gpu:4", "torchrun --nproc_per_node=4 t.py"),
             ContainsSubstring("srun is missing: torchrun starts on the first of the 2 reserved nodes only"));
  CHECK_THAT(
      warned("--ntasks=2;--gres=gpu:2", "python t.py"),
      ContainsSubstring("job.sh:2: srun is missing: 2 tasks are reserved, but python in line 4 runs once"));
  CHECK(warned("--nodes=2;--ntasks-per-node=4;--gres=gpu:4;--cpus-per-task=10", "srun python t.py").empty());
}

TEST_CASE("a job that cannot start is refused") {
  CHECK_THAT(refused("--gres=gpu:1;--ntasks-per-node=4", "puhti", "srun python t.py"),
             ContainsSubstring("job.sh:4:6: error: 4 processes on a node for 1 GPU: NCCL refuses two"));
  // public/10: accelerate alone starts all its processes on the first node.
  CHECK_THAT(refused("--nodes=2;--ntasks-per-node=1;--cpus-per-task=40;--gres=gpu:v100:4", "puhti",
                     "accelerate launch --num_processes 8 train.py"),
             ContainsSubstring("8 processes on a node for 4 GPUs"));
  CHECK_THAT(refused("--nodes=2;--gres=gpu:4", "puhti", "torchrun --nnodes=2 --nproc_per_node=4 t.py"),
             ContainsSubstring("srun is missing: torchrun starts on the first of the 2 reserved nodes only "
                               "and waits for 2 nodes: the training never begins"));
  // Each line, or each turn of a loop, starts another node.
  const std::string each = "srun -N1 -n1 -w $A torchrun --nnodes=2 --nproc_per_node=4 t.py &\n";
  CHECK(refused("--nodes=2;--gres=gpu:4", "puhti", each + each).empty());
  CHECK(refused("--nodes=2;--gres=gpu:4", "puhti", "for A in $H; do\n" + each + "done\n").empty());
}

TEST_CASE("GPUs that the cluster does not have are refused at the word that asks for them") {
  CHECK_THAT(refused("--partition=gpu;--gres=gpu:a100:4", "puhti"),
             ContainsSubstring("job.sh:3:9: error: GPUs of type a100 are asked for, but puhti has"));
  CHECK_THAT(refused("--gres=gpu:4;--constraint=a100", "puhti"),
             ContainsSubstring("job.sh:3:9: error: constraint a100 asks for another GPU"));
  CHECK(refused("--gres=gpu:v100:4;--constraint=nvme", "puhti").empty());
  // Words of a site's own are not known here.
  CHECK(refused("--gres=gpu:large:4", "dgx-a100").empty());
  CHECK(refused("--gres=gpu:tesla_a100:4", "dgx-a100").empty());
  CHECK_FALSE(refused("--gres=gpu:v100:4", "dgx-a100").empty());
}

TEST_CASE("a text of which nothing is understood is refused") {
  const SourceText source{"job.sh", "#!/bin/bash\nllamafactory-cli train a.yaml\n"};
  const JobFindings findings = check_job(read_job_script(source), source, {});
  REQUIRE(findings.refused.size() == 1);
  CHECK_THAT(findings.refused[0].message, ContainsSubstring("nothing was recognised"));
}

TEST_CASE("more loader workers than CPUs") {
  CHECK_THAT(
      warned("--gres=gpu:4;--cpus-per-task=8", "srun torchrun --nproc_per_node=4 t.py --num_workers 4"),
      ContainsSubstring("job.sh:4: 16 loader workers on a node, 4 for each process, share 8 CPUs "
                        "(--cpus-per-task, or --num_workers 2)"));
}

TEST_CASE("arrays, loops, test partitions and what was not understood are said with their lines") {
  const std::string text = warned("--gres=gpu:1;--array=1-10%2;--partition=gputest;--foo=1",
                                  "for i in 1 2; do\npython t.py --epochs $N\ndone\n");
  CHECK_THAT(text, ContainsSubstring("job.sh:3: 10 jobs of this kind are submitted"));
  CHECK_THAT(text, ContainsSubstring("job.sh:4: gputest is for tests"));
  CHECK_THAT(text, ContainsSubstring("job.sh:5: not understood: \"--foo=1\""));
  CHECK_THAT(text, ContainsSubstring("job.sh:7: stands in a loop"));
  CHECK_THAT(text, ContainsSubstring("job.sh:7: not understood: \"--epochs $N\""));
}

TEST_CASE("launchers that stay on their own node are seen when several nodes start them") {
  const std::string two =
      "--partition=gpu;--nodes=2;--ntasks-per-node=1;--cpus-per-task=40;--gres=gpu:v100:4";
  const std::string trainings = " on each of 2 nodes starts 2 trainings that know nothing of each other";
  const auto on_two = [&](const std::string& line) { return warned(two, line + "\n"); };
  CHECK_THAT(
      on_two("srun torchrun --standalone --nproc_per_node=4 train.py"),
      ContainsSubstring("job.sh:7: torchrun --standalone" + trainings +
                        " (torchrun --nnodes=2 --rdzv_backend=c10d --rdzv_endpoint=<the first node>:29500"));
  CHECK_THAT(on_two("srun torchrun --nproc_per_node=4 train.py"),
             ContainsSubstring("torchrun without --nnodes" + trainings));
  CHECK_THAT(on_two("srun torchrun --nnodes=1 --nproc_per_node=4 train.py"),
             ContainsSubstring("torchrun --nnodes=1" + trainings));
  CHECK_THAT(on_two("srun python -m torch.distributed.run --nnodes 1:1 --nproc_per_node=4 train.py"),
             ContainsSubstring("torchrun --nnodes=1" + trainings));
  CHECK_THAT(on_two("srun torchrun --nnodes=2 --nproc_per_node=4 train.py"),
             ContainsSubstring("torchrun without --rdzv_endpoint or --master_addr" + trainings));
  CHECK_THAT(on_two("mpirun -np 2 --map-by ppr:1:node torchrun --standalone --nproc_per_node=4 train.py"),
             ContainsSubstring("torchrun --standalone" + trainings));
  CHECK_THAT(on_two("srun bash -c 'torchrun --standalone --nproc_per_node=4 train.py'"),
             ContainsSubstring("torchrun --standalone" + trainings));
  CHECK_THAT(on_two("srun accelerate launch --num_processes 4 train.py"),
             ContainsSubstring("accelerate launch without --num-machines" + trainings));
  CHECK_THAT(on_two("srun deepspeed --num_gpus=4 train.py"),
             ContainsSubstring("deepspeed without a host file" + trainings));
  CHECK_THAT(on_two("srun horovodrun -np 4 python train.py"),
             ContainsSubstring("horovodrun inside of srun" + trainings));
}

TEST_CASE("launchers that meet, and lines nobody can know, are not said to be trainings of their own") {
  const std::string two =
      "--partition=gpu;--nodes=2;--ntasks-per-node=1;--cpus-per-task=40;--gres=gpu:v100:4";
  for (const char* line : {
           "srun torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint=$HEAD:29500 "
           "train.py",
           "srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=4 --rdzv_endpoint=$HEAD:29500 train.py",
           "srun torchrun --nnodes=$UNKNOWN --nproc_per_node=4 --master_addr=$HEAD train.py",
           "srun torchrun $UNKNOWN --nproc_per_node=4 train.py",
           "export PET_NNODES=2 PET_MASTER_ADDR=a\nsrun torchrun --nproc_per_node=4 train.py",
           "srun accelerate launch --num_machines 2 --num_processes 8 train.py",
           "srun accelerate launch --config_file a.yaml train.py",
           "deepspeed --hostfile hosts --num_gpus=4 train.py",
           "srun python train.py",
       }) {
    INFO(line);
    CHECK(warned(two, std::string(line) + "\n").find("know nothing of each other") == std::string::npos);
  }
  CHECK(warned("--partition=gpu;--nodes=1;--gres=gpu:v100:4",
               "srun torchrun --standalone --nproc_per_node=4 a.py\n")
            .find("know nothing") == std::string::npos);
}

TEST_CASE("the parallel universe starts torchrun on every machine") {
  const SourceText source{"c.sub",
                          "universe = parallel\nmachine_count = 2\nexecutable = /bin/bash\narguments = \"-c "
                          "'torchrun --standalone --nproc_per_node=4 train.py'\"\nrequest_gpus = 4\nqueue\n"};
  const JobFindings findings = check_job(read_job_script(source), source, ClusterSpec{});
  REQUIRE(findings.warnings.size() == 1);
  CHECK_THAT(findings.warnings[0].message,
             ContainsSubstring("torchrun --standalone on each of 2 nodes starts 2 trainings"));
}

TEST_CASE("pods whose operator tells torchrun of the others meet, and pods of a Job do not") {
  const auto warned_of = [](const std::string& object) {
    const SourceText source{"job.yaml", object};
    std::string out;
    for (const Diagnostic& warning : check_job(read_job_script(source), source, ClusterSpec{}).warnings)
      out += warning.message + "\n";
    return out;
  };
  const std::string pod =
      "{spec: {containers: [{name: pytorch, image: i, command: [torchrun, --nproc_per_node=4, train.py], "
      "resources: {limits: {nvidia.com/gpu: 4}}}]}}";
  CHECK(warned_of("apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  pytorchReplicaSpecs:\n    Worker: "
                  "{replicas: 2, template: " +
                  pod + "}\n")
            .find("know nothing") == std::string::npos);
  CHECK_THAT(warned_of("apiVersion: batch/v1\nkind: Job\nspec:\n  parallelism: 2\n  template: " + pod + "\n"),
             ContainsSubstring("torchrun without --nnodes on each of 2 nodes"));
}

}  // namespace job_checks_test

// What a job has that is alone on its nodes, and what launchers then start.
#include "sim/import/jobs/whole_nodes.hpp"

#include "sim/import/jobs/job_lint.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace whole_nodes_test {

using namespace foretrain;
using test::cluster_of;
using test::shown;

namespace {

JobScript on(const std::string& cluster, const std::string& text) {
  JobScript script = test::script_of(text);
  take_whole_nodes(script, cluster_of(cluster));
  return script;
}

std::string cpu_alarm(const std::string& cluster, const std::string& text) {
  const SourceText source{"job.sh", text};
  for (const Diagnostic& row : lint_job(on(cluster, text), source)) {
    if (row.message.find("CPU") != std::string::npos) return row.message;
  }
  return "";
}

const std::string kLaunch = "srun torchrun --nproc_per_node=8 --nnodes=2 train.py\n";

}  // namespace

TEST_CASE("exclusive nodes give all their CPUs") {
  const std::string asks = "#!/bin/bash\n#SBATCH --nodes=2\n#SBATCH --gpus-per-node=8\n";
  CHECK(shown(on("hgx-h100-400g", asks + "#SBATCH --exclusive\n" + kLaunch).resources.cpus_per_node) ==
        std::to_string(cluster_of("hgx-h100-400g").node.host.cores));
  CHECK(cpu_alarm("hgx-h100-400g", asks + "#SBATCH --exclusive\n" + kLaunch).empty());
  CHECK_THAT(cpu_alarm("hgx-h100-400g", asks + kLaunch), ContainsSubstring("1 CPU for 8 GPUs"));
  CHECK_THAT(cpu_alarm("hgx-h100-400g", asks + "#SBATCH --exclusive=user\n" + kLaunch),
             ContainsSubstring("1 CPU for 8 GPUs"));
  // srun binds each task to the CPUs that it asks for.
  CHECK(shown(on("hgx-h100-400g", asks + "#SBATCH --exclusive\n#SBATCH --ntasks-per-node=8\n#SBATCH "
                                         "--cpus-per-task=2\nsrun python t.py\n")
                  .resources.cpus_per_node) == "16");
}

TEST_CASE("partitions of whole nodes, LSF and Flux raise no alarm about CPUs") {
  CHECK(cpu_alarm("frontier",
                  "#!/bin/bash\n#SBATCH -N 2\n#SBATCH -p batch\n#SBATCH --gpus-per-node=8\n" + kLaunch)
            .empty());
  CHECK(cpu_alarm("bridges2-v100-32gb",
                  "#!/bin/bash\n#SBATCH -p GPU\n#SBATCH --gpus=v100-32:8\ntorchrun --nproc_per_node=8 "
                  "t.py\n")
            .empty());
  CHECK(
      cpu_alarm("hgx-h100-400g", "#BSUB -n 1\n#BSUB -x\n#BSUB -gpu num=8\ntorchrun --nproc_per_node=8 t.py\n")
          .empty());
  CHECK(cpu_alarm("hgx-h100-400g",
                  "#BSUB -n 1\n#BSUB -gpu num=8:j_exclusive=yes\ntorchrun "
                  "--nproc_per_node=8 t.py\n")
            .empty());
  CHECK(cpu_alarm("hgx-h100-400g", "#!/bin/bash\n#flux: -N 1 -n 8 -g 1\nflux run -n 8 -g 1 python t.py\n")
            .empty());
  CHECK_FALSE(cpu_alarm("hgx-h100-400g",
                        "#BSUB -n 1\n#BSUB -gpu num=8\ntorchrun --nproc_per_node=8 "
                        "t.py\n")
                  .empty());
}

TEST_CASE("a launcher that counts the GPUs starts a process on each that the site gives") {
  const JobScript script = on("frontier",
                              "#!/bin/bash\n#SBATCH -p batch\n#SBATCH -N 2\nHOSTFILE=h.txt\n"
                              "deepspeed --hostfile=$HOSTFILE train.py\n");
  CHECK(test::launch_of(script) == "deepspeed 8 train.py");
  CHECK(shown(script.resources.gpus) == "16");
}

}  // namespace whole_nodes_test

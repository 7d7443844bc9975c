// Job scripts out: what is written, the reader reads back, for every launcher, number of nodes, GPUs and
// processes.
#include "sim/import/jobs/job_writers.hpp"

#include <algorithm>
#include <sstream>

#include "sim/base/printable.hpp"
#include "sim/import/job_script.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "tests/support/catch.hpp"

namespace job_script_test {

using namespace foretrain;

namespace {

JobPlan plan_for(Launcher launcher, int nodes, int gpus, int processes) {
  JobPlan plan;
  plan.name = "resnet50-puhti", plan.model = "resnet50", plan.cluster = "puhti", plan.strategy = "ddp";
  plan.partition = "gpu", plan.gpu_type = "v100";
  plan.nodes = nodes, plan.gpus_per_node = gpus, plan.processes_per_node = processes;
  plan.cores_per_node = 10 * gpus;
  plan.memory_per_node = {90ll << 30};
  plan.time_limit_s = 5 * 3600 + 90;
  plan.launcher = launcher;
  plan.workers_per_gpu = 4, plan.batch_per_gpu = 32, plan.epochs = 90;
  return plan;
}

bool is_printable_text(const std::string& text) { return printable_lines(text) == text; }

/// As the reader calls it: a script that spawns its processes is started by python.
StartedBy started_by(Launcher launcher) {
  switch (launcher) {
    case Launcher::torchrun:
      return StartedBy::torchrun;
    case Launcher::srun:
      return StartedBy::srun;
    case Launcher::mpirun:
      return StartedBy::mpirun;
    case Launcher::horovodrun:
      return StartedBy::horovodrun;
    case Launcher::deepspeed:
      return StartedBy::deepspeed;
    default:
      return StartedBy::python;
  }
}

void check_common(const JobScript& script, const JobPlan& plan, StartedBy starter) {
  const int processes = starter == StartedBy::python ? 1 : plan.processes_per_node;
  CHECK(script.not_understood.empty());
  CHECK(script.resources.nodes->value == plan.nodes);
  CHECK(script.resources.gpus_per_node->value == plan.gpus_per_node);
  CHECK(script.resources.memory_per_node->value.bytes.count == plan.memory_per_node.count);
  CHECK(script.request.seconds->value == 18090);
  CHECK(script.launch.started_by->value == starter);
  CHECK(script.launch.processes_per_node->value == processes);
  CHECK(script.launch.program->value == "train.py");
}

}  // namespace

TEST_CASE(
    "a written sbatch script is read back to the same request and launch, for all launchers and sizes") {
  for (const Launcher launcher : {Launcher::torchrun, Launcher::mp_spawn, Launcher::srun, Launcher::mpirun,
                                  Launcher::horovodrun, Launcher::deepspeed, Launcher::python}) {
    for (const int nodes : {1, 2, 16}) {
      for (const int gpus : {1, 2, 4, 8}) {
        for (const int processes : {1, gpus}) {
          const JobPlan plan = plan_for(launcher, nodes, gpus, processes);
          const std::string text = write_sbatch(plan);
          INFO(text);
          const JobScript script = read_job_script({"job.sbatch", text});
          check_common(script, plan, started_by(launcher));
          const int tasks = script.resources.tasks_per_node->value;
          CHECK(script.resources.cpus_per_task->value * tasks == plan.cores_per_node);
          CHECK(script.request.partition->value == "gpu");
          CHECK(script.request.gpu_type->value == "v100");
        }
      }
    }
  }
}

TEST_CASE("a written submit file is read back to the same request and launch") {
  for (const Launcher launcher : {Launcher::torchrun, Launcher::srun, Launcher::mpirun, Launcher::horovodrun,
                                  Launcher::deepspeed, Launcher::python}) {
    for (const int gpus : {1, 2, 4, 8}) {
      JobPlan plan = plan_for(launcher, 1, gpus, gpus);
      plan.cluster = "chtc-2080ti", plan.requirements = "Capability == 7.5";
      const std::string text = write_condor(plan);
      INFO(text);
      const JobScript script = read_job_script({"job.sub", text});
      check_common(script, plan, launcher == Launcher::srun ? StartedBy::torchrun : started_by(launcher));
      CHECK(script.resources.cpus_per_task->value == plan.cores_per_node);
      CHECK(script.request.requirements[0].value == "Capability == 7.5");
    }
  }
}

TEST_CASE("a script for two nodes meets at the first of them, and says what to fill in") {
  const std::string text = write_sbatch(plan_for(Launcher::torchrun, 2, 4, 4));
  CHECK_THAT(text, ContainsSubstring("#SBATCH --account=<project>"));
  CHECK_THAT(text, ContainsSubstring("#SBATCH --ntasks-per-node=1"));
  CHECK_THAT(text, ContainsSubstring("#SBATCH --gres=gpu:v100:4\n"));
  CHECK_THAT(text, ContainsSubstring("#SBATCH --time=0-05:01:30"));
  CHECK_THAT(text, ContainsSubstring("export MASTER_ADDR=$(scontrol show hostnames"));
  CHECK_THAT(text, ContainsSubstring("srun torchrun --nnodes=2 --nproc_per_node=4 "));
  CHECK_THAT(text, ContainsSubstring("export OMP_NUM_THREADS=6\n"));
  CHECK_THAT(text, ContainsSubstring("export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK "));
}

TEST_CASE(
    "texts of a plan, whatever they hold, are quoted or stand in a comment: the lines of a script stay the "
    "same") {
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const JobPlan good = plan_for(Launcher::torchrun, 1, 4, 4);
  for (const char* bad : {"x\ntouch pwned\n#", "x\r", "'; touch pwned; '", "$(touch pwned)", "a b\\",
                          "\x1b[31m\u202e", "\"`b`"}) {
    JobPlan plan = good;
    plan.name = plan.model = plan.cluster = plan.strategy = plan.partition = plan.gpu_type = plan.constraint =
        plan.requirements = bad;
    const std::string sbatch = write_sbatch(plan), condor = write_condor(plan);
    INFO(sbatch << condor);
    CHECK(lines(sbatch) == lines(write_sbatch(good)) + 1);  // the constraint
    CHECK(lines(condor) == lines(write_condor(good)) + 1);  // the requirements
    CHECK(is_printable_text(sbatch));
    CHECK(is_printable_text(condor));
    CHECK(condor.find("= $(touch") == std::string::npos);
    const JobScript script = read_job_script({"job.sbatch", sbatch});
    const bool has_variable =
        std::string(bad).find('$') != std::string::npos;  // which the reader takes for a mistake
    CHECK((has_variable || script.request.partition->value == printable(bad)));
    CHECK(script.launch.program->value == "train.py");
  }
}

TEST_CASE("a plain text of a plan stands without quotes, one with operators in quotes") {
  JobPlan plan = plan_for(Launcher::torchrun, 1, 4, 4);
  plan.constraint = "gpu-bw";
  CHECK_THAT(write_sbatch(plan), ContainsSubstring("#SBATCH --constraint=gpu-bw\n"));
  plan.constraint = "a100&nvlink";
  CHECK_THAT(write_sbatch(plan), ContainsSubstring("#SBATCH --constraint='a100&nvlink'\n"));
}

TEST_CASE("a submit file has comments on lines of their own, as HTCondor wants them") {
  std::istringstream lines(write_condor(plan_for(Launcher::torchrun, 1, 4, 4)));
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.find('#', 1) == std::string::npos);
  }
}

TEST_CASE(
    "what is written for PBS, LSF, Grid Engine, Flux and Kubernetes is read back to the same request and "
    "launch") {
  for (const JobSystem& system : job_systems()) {
    if (system.write == nullptr || system.system == BatchSystem::slurm ||
        system.system == BatchSystem::htcondor)
      continue;
    const bool by_pods = system.system == BatchSystem::kubernetes;
    for (const Launcher launcher : {Launcher::torchrun, Launcher::mp_spawn, Launcher::srun, Launcher::mpirun,
                                    Launcher::horovodrun, Launcher::deepspeed, Launcher::python}) {
      for (const int nodes : {1, 2, 16}) {
        for (const int gpus : {1, 2, 4, 8}) {
          JobPlan plan = plan_for(launcher, nodes, gpus, gpus);
          plan.system = system.system;
          const std::string text = system.write(plan);
          INFO(text);
          const JobScript script = read_job_script({"job.txt", text});
          CHECK(script.system == system.system);
          CHECK(script.not_understood.empty());
          CHECK(script.resources.nodes->value == nodes);
          CHECK(script.resources.gpus_per_node->value == gpus);
          CHECK(script.resources.gpus->value == nodes * gpus);
          const auto limit = script.request.seconds->value;
          CHECK((limit == 18090 ||
                 (system.system == BatchSystem::lsf && limit == 18120)));  // it counts minutes
          if (system.system != BatchSystem::grid_engine || nodes == 1)
            CHECK(script.resources.cpus_per_node->value == plan.cores_per_node);
          if (system.system == BatchSystem::pbs || by_pods)
            CHECK(script.resources.memory_per_node->value.bytes.count == plan.memory_per_node.count);
          if (!by_pods) CHECK(script.request.partition->value == "gpu");
          CHECK(script.launch.program->value == "train.py");
          const bool starts_all = launcher != Launcher::python && launcher != Launcher::mp_spawn;
          if (starts_all || (by_pods && nodes > 1)) CHECK(script.launch.processes_per_node->value == gpus);
          if (launcher == Launcher::torchrun) {
            CHECK(script.launch.started_by->value == StartedBy::torchrun);
            CHECK(script.launch.nodes->value == nodes);
          }
        }
      }
    }
  }
}

TEST_CASE("a plan for a resource type of Grid Engine asks for it, and is read back") {
  JobPlan plan = plan_for(Launcher::torchrun, 2, 4, 4);
  plan.partition = "rt_F";
  const std::string text = job_system(BatchSystem::grid_engine).write(plan);
  CHECK_THAT(text, ContainsSubstring("#$ -l rt_F=2\n"));
  const JobScript script = read_job_script({"job.sh", text});
  CHECK(script.resources.gpus->value == 8);
}

TEST_CASE("texts of a plan stay on their lines in the scripts of every system") {
  const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
  const JobPlan good = plan_for(Launcher::torchrun, 2, 4, 4);
  for (const char* bad :
       {"x\ntouch pwned\n#", "x\r", "'; touch pwned; '", "a b\\", "\x1b[31m", "\"`b`", "a: b # c"}) {
    JobPlan plan = good;
    plan.name = plan.model = plan.cluster = plan.strategy = plan.partition = plan.gpu_type = bad;
    for (const JobSystem& system : job_systems()) {
      if (system.write == nullptr || system.system == BatchSystem::slurm) continue;
      const std::string text = system.write(plan);
      INFO(name_of(system.system) << "\n" << text);
      CHECK(lines(text) == lines(system.write(good)));
      CHECK(is_printable_text(text));
      CHECK(read_job_script({"job.txt", text}).resources.gpus->value == 8);
    }
  }
}

}  // namespace job_script_test

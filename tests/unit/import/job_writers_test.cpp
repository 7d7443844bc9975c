// Job scripts out: what is written, the reader reads back, for every launcher, number of nodes, GPUs and
// processes.
#include "sim/import/jobs/job_writers.hpp"

#include <algorithm>
#include <sstream>

#include "sim/base/printable.hpp"
#include "sim/import/job_checks.hpp"
#include "sim/import/job_script.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/meeting.hpp"
#include "tests/support/catch.hpp"

namespace job_script_test {

using namespace foretrain;
using Catch::Matchers::StartsWith;

namespace {

JobPlan plan_for(Launcher launcher, int nodes, int gpus, int processes) {
  JobPlan plan;
  plan.name = "resnet50-puhti", plan.model = "resnet50", plan.cluster = "puhti";
  plan.strategy = launcher == Launcher::horovodrun ? "horovod" : "ddp";
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
          if (!why_not_written(plan, BatchSystem::slurm).why.empty()) continue;
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
          if (!why_not_written(plan, system.system).why.empty()) continue;
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
  for (const char* bad :
       {"x\ntouch pwned\n#", "x\r", "'; touch pwned; '", "a b\\", "\x1b[31m", "\"`b`", "a: b # c"}) {
    for (const JobSystem& system : job_systems()) {
      if (system.write == nullptr || system.system == BatchSystem::slurm) continue;
      const int nodes = system.system == BatchSystem::htcondor ? 1 : 2;
      const JobPlan good = plan_for(Launcher::torchrun, nodes, 4, 4);
      JobPlan plan = good;
      plan.name = plan.model = plan.cluster = plan.strategy = plan.partition = plan.gpu_type = bad;
      const std::string text = system.write(plan);
      INFO(name_of(system.system) << "\n" << text);
      CHECK(lines(text) == lines(system.write(good)));
      CHECK(is_printable_text(text));
      CHECK(read_job_script({"job.txt", text}).resources.gpus->value == 4 * nodes);
    }
  }
}

TEST_CASE("a job whose processes would not find each other is refused with what tells them nothing") {
  const auto why = [](Launcher launcher, int nodes, const char* strategy, BatchSystem system) {
    JobPlan plan = plan_for(launcher, nodes, 4, 4);
    plan.strategy = strategy;
    return why_not_written(plan, system).why;
  };
  using enum BatchSystem;
  CHECK_THAT(why(Launcher::torchrun, 2, "ddp", htcondor), ContainsSubstring("for 2 machines: its parallel"));
  CHECK(why(Launcher::torchrun, 1, "ddp", htcondor).empty());
  CHECK_THAT(why(Launcher::mp_spawn, 2, "ddp", slurm), ContainsSubstring("on the first of 2 nodes only"));
  CHECK_THAT(why(Launcher::torchrun, 1, "horovod", slurm), ContainsSubstring("does not tell Horovod's"));
  CHECK(why(Launcher::horovodrun, 2, "horovod", pbs).empty());
  CHECK_THAT(why(Launcher::horovodrun, 1, "ddp", slurm), ContainsSubstring("does not set RANK"));
  CHECK_THAT(why(Launcher::srun, 1, "parameter_server", slurm), ContainsSubstring("that only serve"));
  CHECK_THAT(why(Launcher::horovodrun, 2, "byteps", kubernetes), ContainsSubstring("that only serve"));
  for (const BatchSystem system : {pbs, lsf, grid_engine, flux})
    CHECK_THAT(why(Launcher::srun, 2, "multi_worker_mirrored", system), ContainsSubstring("TF_CONFIG"));
  CHECK(why(Launcher::srun, 2, "multi_worker_mirrored", slurm).empty());
  CHECK(why(Launcher::srun, 2, "multi_worker_mirrored", kubernetes).empty());
  CHECK_THAT(why(Launcher::mpirun, 2, "multi_worker_mirrored", slurm),
             ContainsSubstring("mpirun does not set"));
  const JobPlan plan = plan_for(Launcher::torchrun, 2, 4, 4);
  CHECK_THROWS_WITH(write_job_script(plan, job_system(htcondor)), ContainsSubstring("hint: fewer GPUs"));
}

TEST_CASE("our own check has nothing to say about our own scripts") {
  const ClusterSpec nothing;
  for (const JobSystem& system : job_systems()) {
    if (system.write == nullptr) continue;
    for (const Launcher launcher :
         {Launcher::torchrun, Launcher::srun, Launcher::mpirun, Launcher::horovodrun, Launcher::deepspeed}) {
      for (const int nodes : {1, 2, 16}) {
        for (const int gpus : {1, 4}) {
          JobPlan plan = plan_for(launcher, nodes, gpus, gpus);
          if (!why_not_written(plan, system.system).why.empty()) continue;
          const SourceText source{"job.txt", write_job_script(plan, system)};
          INFO(source.text);
          const JobFindings findings = check_job(read_job_script(source), source, nothing);
          CHECK(findings.refused.empty());
          for (const Diagnostic& warning : findings.warnings) FAIL_CHECK(warning.message);
        }
      }
    }
  }
}

TEST_CASE(
    "several pods are an object whose operator takes it: strings are strings, containers have their names") {
  JobPlan plan = plan_for(Launcher::torchrun, 2, 4, 4);
  plan.name = "3d-unet";
  const std::string pytorch = write_kubernetes(plan);
  CHECK_THAT(pytorch, ContainsSubstring("kind: PyTorchJob\n") && ContainsSubstring("nprocPerNode: \"4\"\n") &&
                          ContainsSubstring("- name: pytorch\n") &&
                          ContainsSubstring("name: training-3d-unet\n") &&
                          ContainsSubstring("--node_rank=$RANK --master_addr=$MASTER_ADDR "));
  const std::string horovod = write_kubernetes(plan_for(Launcher::horovodrun, 2, 4, 4));
  CHECK_THAT(horovod, ContainsSubstring("kind: MPIJob\n") && ContainsSubstring("slotsPerWorker: 4\n") &&
                          ContainsSubstring("mpirun --allow-run-as-root -np 8 "));
  plan.strategy = "multi_worker_mirrored", plan.processes_per_node = 1;
  CHECK_THAT(write_kubernetes(plan),
             ContainsSubstring("kind: TFJob\n") && ContainsSubstring("- name: tensorflow\n"));
}

TEST_CASE("a task of srun or mpirun is told its rank, which PyTorch reads") {
  CHECK_THAT(
      write_sbatch(plan_for(Launcher::srun, 2, 4, 4)),
      ContainsSubstring("srun bash -c \"MASTER_ADDR=$MASTER_ADDR MASTER_PORT=$MASTER_PORT WORLD_SIZE=8 "
                        "RANK=\\$SLURM_PROCID LOCAL_RANK=\\$SLURM_LOCALID exec python train.py"));
  CHECK_THAT(
      job_system(BatchSystem::lsf).write(plan_for(Launcher::mpirun, 2, 4, 4)),
      ContainsSubstring("mpirun -np 8 bash -c \"") && ContainsSubstring("RANK=\\${OMPI_COMM_WORLD_RANK:-"));
  JobPlan horovod = plan_for(Launcher::horovodrun, 2, 4, 4);
  horovod.launcher = Launcher::mpirun;
  CHECK_THAT(write_sbatch(horovod), ContainsSubstring("\nmpirun -np 8 python train.py"));
}

TEST_CASE("tasks of Flux get the cores and GPUs of their processes, and hosts come one a line") {
  const std::string text = job_system(BatchSystem::flux).write(plan_for(Launcher::torchrun, 2, 4, 4));
  CHECK_THAT(text, ContainsSubstring("flux run -N 2 -n 2 -c 40 -g 4 torchrun ") &&
                       ContainsSubstring("$(flux hostlist -e local | tr ' ' '\\n' | head -n 1)"));
}

TEST_CASE("what to type starts each launcher once where it starts the processes itself") {
  CHECK_THAT(interactive_command(plan_for(Launcher::mpirun, 1, 4, 4)),
             StartsWith("salloc ") && ContainsSubstring("mpirun -np 4 "));
  CHECK_THAT(interactive_command(plan_for(Launcher::horovodrun, 1, 4, 4)),
             StartsWith("srun ") && ContainsSubstring("--ntasks-per-node=1 ") &&
                 ContainsSubstring("horovodrun -np 4 "));
  CHECK_THAT(interactive_command(plan_for(Launcher::deepspeed, 2, 4, 4)),
             StartsWith("salloc ") && ContainsSubstring("> hosts.$SLURM_JOB_ID; deepspeed --hostfile="));
  CHECK_THAT(interactive_command(plan_for(Launcher::srun, 2, 4, 4)),
             StartsWith("srun ") && ContainsSubstring("--ntasks-per-node=4 ") &&
                 ContainsSubstring("bash -c 'MASTER_ADDR=$(scontrol show hostnames"));
  // --time=0 would mean no limit at all.
  JobPlan open = plan_for(Launcher::torchrun, 1, 4, 4);
  open.time_limit_s = 0;
  CHECK_THAT(interactive_command(open), !ContainsSubstring("--time"));
  JobPlan condor = plan_for(Launcher::torchrun, 2, 4, 4);
  condor.system = BatchSystem::htcondor;
  CHECK_THAT(interactive_command(condor), StartsWith("# no submit file of HTCondor"));
}

}  // namespace job_script_test

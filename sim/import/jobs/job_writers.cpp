// The request, the environment, the launch line; each launcher is one case of script_launch_line(). Texts of
// a plan come from other people's files: they stand in comments, on one line, or quoted.
#include "sim/import/jobs/job_writers.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

std::int64_t limit_s(const JobPlan& plan) {
  return static_cast<std::int64_t>(std::ceil(std::min(plan.time_limit_s, 1e15)));
}

/// A value of a #SBATCH line, on that line: in quotes unless it is plain. Inside them sbatch takes a
/// backslash for an escape.
std::string slurm_value(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-:=,@%/";
  std::string line = printable(text);
  if (!line.empty() && line.find_first_not_of(kPlain) == std::string::npos) return line;
  std::string out = "'";
  for (const char c : line) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

/// A value of a submit file, to the end of its line: `$` begins no macro, and a backslash at the end takes no
/// line from below.
std::string condor_value(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) out += c == '$' ? "$(DOLLAR)" : std::string(1, c);
  return out.ends_with('\\') ? out + " " : out;
}

std::string clock(std::int64_t seconds) {
  return fmt::format("{}-{:02}:{:02}:{:02}", seconds / 86400, seconds / 3600 % 24, seconds / 60 % 60,
                     seconds % 60);
}

/// MiB, rounded up, which is what Slurm counts in.
std::int64_t mebibytes(Bytes memory) { return (memory.count + (1 << 20) - 1) >> 20; }

/// Cores that a process has beside its loader workers.
int threads(const JobPlan& plan) {
  const int gpus_of_process = std::max(1, plan.gpus_per_node / plan.processes_per_node);
  return std::max(1, plan.cores_per_node / plan.processes_per_node - plan.workers_per_gpu * gpus_of_process);
}

/// The program and the arguments that the prediction assumed.
std::string program(const JobPlan& plan) {
  std::string out = "train.py";
  if (plan.epochs > 0) out += fmt::format(" --epochs={:g}", plan.epochs);
  const bool is_one_process = plan.processes_per_node == 1 && plan.nodes == 1 && plan.gpus_per_node > 1;
  const std::int64_t batch = is_one_process ? plan.global_batch / plan.accumulation : plan.batch_per_gpu;
  if (batch > 0) out += fmt::format(" --batch-size={}", batch);
  if (plan.accumulation > 1) out += fmt::format(" --gradient-accumulation-steps={}", plan.accumulation);
  if (plan.workers_per_gpu > 0) out += fmt::format(" --workers={}", plan.workers_per_gpu);
  return out;
}

std::string torchrun_line(const JobPlan& plan) {
  if (plan.nodes == 1)
    return fmt::format("torchrun --standalone --nproc_per_node={} {}", plan.processes_per_node,
                       program(plan));
  return fmt::format(
      "torchrun --nnodes={} --nproc_per_node={} --rdzv_id=$SLURM_JOB_ID --rdzv_backend=c10d "
      "--rdzv_endpoint=$MASTER_ADDR:$MASTER_PORT {}",
      plan.nodes, plan.processes_per_node, program(plan));
}

/// What runs once on each node, or once for the job.
std::string script_launch_line(const JobPlan& plan) {
  const int all = plan.nodes * plan.processes_per_node;
  switch (plan.launcher) {
    case Launcher::torchrun:
      return "srun " + torchrun_line(plan);
    case Launcher::srun:
      return "srun python " + program(plan);
    case Launcher::mpirun:
      return fmt::format("mpirun -np {} python {}", all, program(plan));
    case Launcher::horovodrun:
      return plan.nodes == 1 ? fmt::format("horovodrun -np {} python {}", all, program(plan))
                             : fmt::format("horovodrun -np {} -H $HOSTS python {}", all, program(plan));
    case Launcher::deepspeed:
      if (plan.nodes == 1)
        return fmt::format("deepspeed --num_gpus={} {}", plan.processes_per_node, program(plan));
      return fmt::format("deepspeed --hostfile=hosts.$SLURM_JOB_ID --num_nodes={} --num_gpus={} {}",
                         plan.nodes, plan.processes_per_node, program(plan));
    case Launcher::mp_spawn:
    case Launcher::python:
      break;
  }
  return "python " + program(plan);
}

/// What the launch line needs before it: addresses, hosts.
std::string preparation(const JobPlan& plan) {
  if (plan.nodes == 1) return "";
  switch (plan.launcher) {
    case Launcher::torchrun:
    case Launcher::srun:
      return "export MASTER_ADDR=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1)\nexport "
             "MASTER_PORT=29500    # any free "
             "port\n";
    case Launcher::horovodrun:
      return fmt::format(
          "HOSTS=$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed 's/$/:{}/' | paste -sd,)\n",
          plan.processes_per_node);
    case Launcher::deepspeed:
      return fmt::format(
          "scontrol show hostnames \"$SLURM_JOB_NODELIST\" | sed 's/$/ slots={}/' > hosts.$SLURM_JOB_ID\n",
          plan.processes_per_node);
    default:
      return "";
  }
}

/// The launch line for a shell in which no script has set anything.
std::string bare_launch(JobPlan plan) {
  const std::string srun = "srun ";
  std::string line = script_launch_line(plan);
  if (line.starts_with(srun)) line = line.substr(srun.size());
  if (plan.nodes == 1 || plan.launcher != Launcher::torchrun) return line;
  const std::string address = "$MASTER_ADDR:$MASTER_PORT";
  line.replace(line.find(address), address.size(),
               "$(scontrol show hostnames \"$SLURM_JOB_NODELIST\" | head -n 1):29500");
  return "bash -c '" + line + "'";
}

std::string script_heading(const JobPlan& plan) {
  std::string batch = plan.global_batch > 0    ? fmt::format(", global batch {}", plan.global_batch)
                      : plan.batch_per_gpu > 0 ? fmt::format(", {} samples per GPU", plan.batch_per_gpu)
                                               : "";
  return fmt::format(
      "# {} with {} on {}: {} on {}{}.\n# Written by foretrain; fill in what stands in <…>, and "
      "the program's own options.\n",
      printable(plan.model), printable(plan.strategy), printable(plan.cluster),
      counted(std::int64_t{plan.nodes} * plan.gpus_per_node, "GPU"), counted(plan.nodes, "node"), batch);
}

std::string directive(std::string_view option, const std::string& comment = "") {
  return comment.empty() ? fmt::format("#SBATCH --{}\n", option)
                         : fmt::format("#SBATCH --{:<28} # {}\n", option, comment);
}

std::string gres(const JobPlan& plan) {
  return fmt::format("gres={}",
                     slurm_value(fmt::format("gpu:{}{}{}", plan.gpu_type, plan.gpu_type.empty() ? "" : ":",
                                             plan.gpus_per_node)));
}

}  // namespace

std::string write_sbatch(const JobPlan& plan) {
  assert(plan.nodes >= 1 && plan.gpus_per_node >= 1 && plan.processes_per_node >= 1 &&
         plan.cores_per_node >= 1);
  const int tasks = tasks_per_node(plan);
  std::string out = "#!/bin/bash\n" + script_heading(plan);
  out += directive(fmt::format("job-name={}", slurm_value(plan.name)));
  out += directive("account=<project>", "who pays");
  if (!plan.partition.empty()) out += directive(fmt::format("partition={}", slurm_value(plan.partition)));
  if (!plan.constraint.empty()) out += directive(fmt::format("constraint={}", slurm_value(plan.constraint)));
  out += directive(fmt::format("nodes={}", plan.nodes));
  out += directive(fmt::format("ntasks-per-node={}", tasks),
                   tasks == 1 ? fmt::format("{} starts the processes itself", name_of(plan.launcher))
                              : "one for each process");
  out += directive(fmt::format("cpus-per-task={}", std::max(1, plan.cores_per_node / tasks)));
  out += directive(gres(plan));
  if (plan.memory_per_node.count > 0)
    out += directive(fmt::format("mem={}M", mebibytes(plan.memory_per_node)));
  if (limit_s(plan) > 0)
    out += directive(fmt::format("time={}", clock(limit_s(plan))), "days-hours:minutes:seconds");
  out += directive("output=%x-%j.out");
  out += "\n# module load <the module with your framework>\n# source <your environment>/bin/activate\n\n";
  out += fmt::format("export OMP_NUM_THREADS={}\n", threads(plan));
  if (plan.launcher == Launcher::torchrun || plan.launcher == Launcher::srun)
    out += "export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK    # srun does not take it over by itself\n";
  out += preparation(plan);
  if (plan.launcher == Launcher::mp_spawn)
    out +=
        fmt::format("# train.py starts its {} processes on this node by itself\n", plan.processes_per_node);
  return out + "\n" + script_launch_line(plan) + "\n";
}

std::string write_condor(const JobPlan& plan) {
  assert(plan.nodes >= 1 && plan.gpus_per_node >= 1 && plan.processes_per_node >= 1 &&
         plan.cores_per_node >= 1);
  JobPlan on_one_node = plan;
  on_one_node.nodes = 1;
  const bool by_torchrun = plan.launcher == Launcher::torchrun || plan.launcher == Launcher::srun;
  const std::string line = by_torchrun ? torchrun_line(on_one_node) : script_launch_line(on_one_node);
  std::string out =
      script_heading(plan) + fmt::format("universe = {}\n", plan.nodes > 1 ? "parallel" : "vanilla");
  if (plan.nodes > 1) out += fmt::format("machine_count = {}\n", plan.nodes);
  out += "# container_image = docker://<image with your framework>\n\n";
  out += "executable = /bin/bash\ntransfer_executable = false\n";
  out += fmt::format("arguments = \"-c 'OMP_NUM_THREADS={} {}'\"\n", threads(plan), line);
  out += "transfer_input_files = train.py\nshould_transfer_files = YES\n\n";
  out += fmt::format("request_gpus = {}\nrequest_cpus = {}\n", plan.gpus_per_node, plan.cores_per_node);
  if (plan.memory_per_node.count > 0)
    out += fmt::format("request_memory = {}MB\n", mebibytes(plan.memory_per_node));
  out += "# <room for environment, data and checkpoints>\nrequest_disk = 40GB\n";
  if (!plan.requirements.empty()) out += fmt::format("require_gpus = {}\n", condor_value(plan.requirements));
  if (limit_s(plan) > 0) out += fmt::format("allowed_job_duration = {}\n", limit_s(plan));
  if (plan.cluster.starts_with("chtc")) {
    out += fmt::format("+WantGPULab = true\n+GPUJobLength = \"{}\"\n", limit_s(plan) <= 12 * 3600   ? "short"
                                                                       : limit_s(plan) <= 24 * 3600 ? "medium"
                                                                                                    : "long");
  }
  return out + fmt::format("\nlog = {0}.log\noutput = {0}.out\nerror = {0}.err\n\nqueue 1\n",
                           condor_value(plan.name));
}

std::string interactive_command(const JobPlan& plan) {
  if (plan.system == BatchSystem::htcondor) return bare_launch(plan);
  const int tasks = tasks_per_node(plan);
  std::string out = "srun";
  if (!plan.partition.empty()) out += " --partition=" + slurm_value(plan.partition);
  out += fmt::format(" --nodes={} --ntasks-per-node={} --cpus-per-task={}", plan.nodes, tasks,
                     std::max(1, plan.cores_per_node / tasks));
  out += " --gres=" + slurm_value(fmt::format("gpu:{}{}", plan.gpu_type.empty() ? "" : plan.gpu_type + ":",
                                              plan.gpus_per_node));
  const std::int64_t minutes = (limit_s(plan) + 59) / 60;
  return out + fmt::format(" --time={} {}", minutes, bare_launch(plan));
}

}  // namespace foretrain

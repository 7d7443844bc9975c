// A JobScript is a job script as a value: what it asks of the batch system and how it starts the training,
// each with its place in the text.
// Reading goes through four steps: the text is cut into commands (read_commands), directives become a
// JobRequest, resolve() derives JobResources from it, and the launch line becomes a JobLaunch. Nothing is
// ever run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/units.hpp"
#include "sim/cluster/site.hpp"
#include "sim/import/shell_values.hpp"

namespace foretrain {

// The commands of a shell script are listed in the order of the text, with what is known of their words.

/// A command with its words, without assignments, redirections and keywords.
struct ShellCommand {
  std::vector<ShellWord> words;
  /// False for a command in a branch whose condition is not known.
  bool certain = true;
  /// True for a command in a loop.
  bool repeated = false;
  /// Text of its here-document, with known values put in.
  std::string here{};
  /// First line of the here-document; 0 when there is none.
  int here_line = 0;
};

/// Reads the commands of `text`, whose first line has the number `first_line`.
/// Assignments change `values` as the script would, as far as that is known. Branches whose condition is
/// known to be false are left out; after a branch that may have been taken, its variables are unknown.
std::vector<ShellCommand> read_commands(std::string_view text, ShellValues& values, int first_line = 1);

/// A value and its place. Line 0 says that the value follows from others by a rule of the batch system.
template <class T>
struct Found {
  T value{};
  SourceSpan span{};
};
/// A value that the script may not state, or that is unknown.
template <class T>
using Field = std::optional<Found<T>>;

/// Memory as requested: an amount, or all that a node has (--mem=0).
struct MemoryRequest {
  Bytes bytes{};
  bool whole_node = false;
};

/// The request as the directives state it. The last of several directives counts, as in Slurm.
/// A member is empty if it is not stated or was not understood. Readers of all batch systems translate into
/// these terms, which are Slurm's.
struct JobRequest {
  std::string name;
  /// Least and most nodes: --nodes=2-4 sets both.
  Field<int> nodes, most_nodes;
  /// Numbers of tasks (processes that the batch system starts) and of CPUs.
  Field<int> tasks, tasks_per_node, tasks_per_gpu, cpus_per_task, cpus_per_gpu;
  /// Numbers of GPUs of the whole job, of each node and of each task.
  Field<int> gpus, gpus_per_node, gpus_per_task;
  /// Type of GPU in the site's words, such as "a100".
  Field<std::string> gpu_type;
  /// Host memory of each node, CPU or GPU.
  Field<MemoryRequest> memory, memory_per_cpu, memory_per_gpu;
  /// Time limit in seconds; 0 for none.
  Field<std::int64_t> seconds;
  /// Partition or queue, and the project that pays.
  Field<std::string> partition, account;
  /// Features that the nodes must have.
  std::vector<Found<std::string>> constraints;
  /// Expressions of HTCondor that select a GPU.
  std::vector<Found<std::string>> requirements;
  /// PBS's placement of chunks: pack, scatter:excl and so on.
  Field<std::string> placement;
  /// Size of /dev/shm of a container.
  Field<MemoryRequest> shared_memory;
  /// True for jobs in containers, whose /dev/shm is small unless it is stated.
  bool has_container = false;
  /// True if nodes are given out whole: without a number of GPUs, the job has all of them.
  bool whole_nodes = false;
  /// Number of jobs, from --array or from queue N.
  Field<int> array;
  /// True if the job is alone on its nodes and has all their CPUs.
  Field<bool> exclusive;
  /// True for --hint=nomultithread: a CPU is a core, not a hardware thread.
  bool physical_cores = false;
  /// True if there is a request at all. Defaults hold only for a script that makes one.
  bool asks = false;
};

/// The resources that the batch system gives for a request. A member without a value is unknown.
struct JobResources {
  Field<int> nodes, gpus, gpus_per_node, tasks, tasks_per_node, cpus_per_task, cpus_per_node;
  Field<MemoryRequest> memory_per_node;
};

/// The program that starts the training.
/// It corresponds to a Launcher where there is one: accelerate and lightning start processes as torchrun
/// does, jsrun as mpirun, and flux run as srun.
enum class StartedBy : std::uint8_t {
  torchrun,
  srun,
  mpirun,
  horovodrun,
  deepspeed,
  accelerate,
  lightning,
  jsrun,
  flux_run,
  /// A command on each node, started by ssh, pbsdsh or blaunch.
  remote_shell,
  python
};
/// Returns the name as people write it, such as "flux run".
std::string_view name_of(StartedBy starter);

/// An argument of the training program that says something about the run.
struct ProgramArgument {
  /// Key in one spelling for all programs, such as "batch", "epochs" or "strategy"; read_arguments() lists
  /// them.
  std::string key;
  /// Option as the line writes it.
  std::string option;
  std::string value;
  SourceSpan span{};
};

/// A variable of the environment that a library reads, with the place where it is set.
struct LibraryVariable {
  std::string name, value;
  SourceSpan span{};
};

/// The launch of the training: launcher, processes, program and arguments.
struct JobLaunch {
  Field<StartedBy> started_by;
  /// Processes that train on each node; those of the first node where only one node starts any.
  Field<int> processes_per_node;
  /// Number of nodes on which something is started.
  Field<int> nodes;
  /// GPUs of each node that the launcher hands out, as jsrun -r 6 -g 1 does.
  Field<int> gpus_per_node;
  /// CPUs of each node that the launcher hands out, as srun -c 7 does.
  Field<int> cpus_per_node{};
  /// Script or module that trains.
  Field<std::string> program;
  std::vector<ProgramArgument> arguments;
  /// True if a process is started for each GPU that the job has on a node, whatever their number: deepspeed
  /// without --num_gpus, or --nproc_per_node=gpu.
  bool follows_gpus = false;
  /// Number of nodes that the launcher waits for, as in torchrun --nnodes=2.
  Field<int> awaited_nodes{};
  /// Number of lines of the script that start the training.
  int lines = 1;
  /// True for a launcher that srun or the like starts on each node.
  bool under_srun = false;
  /// True if the line stands in a loop.
  bool repeated = false;
  /// Reason why each start on a node is a training of its own, such as "torchrun --standalone". No value if
  /// the starts meet, or if it is unknown.
  Field<std::string> alone{};
  /// Another script that holds the launch line; empty for this one.
  std::string file{};
  /// Words behind the program's name.
  std::vector<ShellWord> program_words{};
  /// Words of horovodrun and accelerate, whose options are settings.
  std::vector<ShellWord> launcher_words{};
  /// Variables that mpirun passes on with a value (-x NAME=value).
  std::vector<LibraryVariable> variables{};
  /// Strategy and its place by settings files; empty if they do not state it.
  std::string strategy{}, strategy_said_by{};
  /// Strategy that the user of foretrain states, which takes precedence; empty for none.
  std::string asked_strategy{};
};

/// A line that could not be read, and the reason. Nothing of it is in the other values.
struct NotUnderstood {
  SourceSpan span{};
  std::string text;
  std::string why;
};

/// A job script as it was understood, with the lines that were not.
struct JobScript {
  std::string file;
  BatchSystem system = BatchSystem::none;
  JobRequest request;
  JobResources resources;
  JobLaunch launch;
  /// Variables of Horovod, NCCL, BytePS and TensorFlow at the end of the script.
  std::vector<LibraryVariable> variables{};
  /// Module or container, as framework.software takes it.
  Field<std::string> software{};
  std::vector<NotUnderstood> not_understood;
  /// Lines that were understood, but do not do what their writer may expect.
  std::vector<NotUnderstood> remarks;
};

/// A function that finds a script beside the one that is read, by its name as written; no value when there is
/// none.
/// It may be empty: then no other script is read.
using ScriptFinder = std::function<std::optional<SourceText>(const std::string& name)>;

/// Says whether a text is a job script and no scenario: a shell script, directives of a batch system, or a
/// submit file.
bool is_job_script(std::string_view text);

/// Reads a request to any system of jobs/catalog.cpp. A shell script without directives is read as one of
/// Slurm.
/// Throws InputError for binary text, and for scripts of systems that are not read (Cobalt, OAR and others),
/// with their name.
JobScript read_job_script(const SourceText& source, const ScriptFinder& find = nullptr);

/// Derives the resources by Slurm's rules: one node unless the tasks need more, one task a node, one CPU a
/// task, and the GPUs of each node that --gres states.
JobResources resolve(const JobRequest& request);

/// Returns the nodes on which the processes of one training run; 0 when unknown.
/// They are fewer than the job's if the launcher starts only on the first node, or if each node trains by
/// itself.
int training_nodes(const JobScript& script);
/// Returns the GPUs of these nodes that the job reserves; 0 when unknown.
int gpus_of_training(const JobScript& script);

}  // namespace foretrain

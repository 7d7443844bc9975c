// A job script as a value: what it asks of the batch system and how it starts the training, each with the
// place it was read from.
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

// The commands of a shell script in the order of the text, with what is known of their words; nothing is ever
// run.

/// A command and its words, without assignments, redirections and keywords.
struct ShellCommand {
  std::vector<ShellWord> words;
  bool certain = true;    ///< false: in a branch, and nobody knows whether its condition holds
  bool repeated = false;  ///< in a loop
  std::string here{};     ///< its here-document, with known values put in
  int here_line = 0;      ///< first line of it; 0: there is none
};

/// Reads `text`, whose first line is number `first_line`. Assignments change `values` as the script would, as
/// far as that is known: branches whose condition is known to be false are left out; after a branch that may
/// have been taken its variables are unknown.
std::vector<ShellCommand> read_commands(std::string_view text, ShellValues& values, int first_line = 1);

/// A value and where it stands. Line 0: it follows from others by a rule of the batch system.
template <class T>
struct Found {
  T value{};
  SourceSpan span{};
};
template <class T>
using Field = std::optional<Found<T>>;

/// Memory as asked for: an amount, or all that a node has (--mem=0).
struct MemoryRequest {
  Bytes bytes{};
  bool whole_node = false;
};

/// What the directives say, word for word; the last of several counts, as in Slurm. Empty: not said, or not
/// understood.
struct JobRequest {
  std::string name;
  Field<int> nodes, most_nodes;  ///< --nodes=2-4: from `nodes` to `most_nodes`
  Field<int> tasks, tasks_per_node, tasks_per_gpu, cpus_per_task, cpus_per_gpu;
  Field<int> gpus, gpus_per_node, gpus_per_task;
  Field<std::string> gpu_type;
  Field<MemoryRequest> memory, memory_per_cpu, memory_per_gpu;
  Field<std::int64_t> seconds;  ///< time limit
  Field<std::string> partition, account;
  std::vector<Found<std::string>> constraints;
  std::vector<Found<std::string>> requirements;  ///< expressions of HTCondor that choose a GPU
  Field<std::string> placement;                  ///< of PBS: pack, scatter:excl, …
  Field<MemoryRequest> shared_memory;            ///< /dev/shm of a container
  bool has_container = false;   ///< whose /dev/shm is as small as containers have it when nobody says more
  bool whole_nodes = false;     ///< nodes are handed out whole: without a word of GPUs a job has all of them
  Field<int> array;             ///< number of jobs: --array, queue N
  Field<bool> exclusive;        ///< the job is alone on its nodes and has all their CPUs
  bool physical_cores = false;  ///< --hint=nomultithread: a CPU is a core
  bool asks = false;  ///< whether there is a request at all: defaults only hold in a script that makes one
};

/// What the batch system makes of it. Empty: unknown.
struct JobResources {
  Field<int> nodes, gpus, gpus_per_node, tasks, tasks_per_node, cpus_per_task, cpus_per_node;
  Field<MemoryRequest> memory_per_node;
};

/// What starts the training. Its value is Launcher's where there is one; accelerate and lightning start
/// processes as torchrun does, jsrun as mpirun, flux run as srun.
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
  remote_shell,  ///< ssh, pbsdsh, blaunch: one command on each node
  python
};
std::string_view name_of(StartedBy starter);

/// An argument of the training program that says something about the run.
struct ProgramArgument {
  std::string key;  ///< "batch_size", "epochs", "workers", "strategy", "precision", …: one spelling for all
  std::string option;  ///< as written
  std::string value;
  SourceSpan span{};
};

/// A variable of the environment that a library reads, and where the script sets it.
struct LibraryVariable {
  std::string name, value;
  SourceSpan span{};
};

/// How a job script starts its training: launcher, processes, program and arguments.
struct JobLaunch {
  Field<StartedBy> started_by;
  Field<int> processes_per_node;  ///< that train; of the first node where only one node starts any
  Field<int> nodes;               ///< on which something is started
  Field<int> gpus_per_node;       ///< that the launcher hands out, as jsrun -r 6 -g 1
  Field<int> cpus_per_node{};     ///< likewise, as srun -c 7
  Field<std::string> program;     ///< script or module
  std::vector<ProgramArgument> arguments;
  /// Whether there is a process for each GPU that the job has on the node, whatever their number:
  /// deepspeed without --num_gpus, --nproc_per_node=gpu.
  bool follows_gpus = false;
  Field<int> awaited_nodes{};  ///< that the launcher waits for, as in torchrun --nnodes=2
  int lines = 1;               ///< of the script that start it
  bool under_srun = false;     ///< a launcher that srun starts on each node
  bool repeated = false;       ///< in a loop
  /// Why each start on a node is a training of its own, as in "torchrun --standalone"; none: they meet, or
  /// nobody knows.
  Field<std::string> alone{};
  std::string file{};                          ///< another script that holds the line; empty: this one
  std::vector<ShellWord> program_words{};      ///< behind the program's name
  std::vector<ShellWord> launcher_words{};     ///< of horovodrun and accelerate, which take settings
  std::vector<LibraryVariable> variables{};    ///< that mpirun hands on with a value (-x NAME=value)
  std::string strategy{}, strategy_said_by{};  ///< as settings files say it; empty: they do not
  std::string asked_strategy{};                ///< by the user of this program, which wins; empty: none
};

/// A line that could not be read, and why. Nothing of it is in the other values.
struct NotUnderstood {
  SourceSpan span{};
  std::string text;
  std::string why;
};

/// A job script as it was understood, and the lines that were not. Scripts are read and never run.
struct JobScript {
  std::string file;
  BatchSystem system = BatchSystem::none;
  JobRequest request;
  JobResources resources;
  JobLaunch launch;
  std::vector<LibraryVariable> variables{};  ///< of Horovod, NCCL, BytePS, TensorFlow at the script's end
  Field<std::string> software{};             ///< module or container, as framework.software has it
  std::vector<NotUnderstood> not_understood;
  std::vector<NotUnderstood> remarks;  ///< understood, but not what its writer may expect
};

/// Finds a script that lies beside the one being read; nothing when there is none. Names are as written in
/// the script.
using ScriptFinder = std::function<std::optional<SourceText>(const std::string& name)>;

/// Whether a text is a job script (and no scenario): a shell script, directives of a batch system, a submit
/// file.
bool is_job_script(std::string_view text);

/// Reads a request of any system of jobs/catalog.cpp; a shell script without directives is read as one of
/// Slurm. Nothing is run. Throws InputError for binary text, and for scripts of systems that are not read
/// (Cobalt, OAR, …), whose name it says.
JobScript read_job_script(const SourceText& source, const ScriptFinder& find = nullptr);

/// By Slurm's rules: one node unless tasks need more, one task per node, one CPU per task, GPUs per node as
/// --gres says.
JobResources resolve(const JobRequest& request);

/// Nodes on which the processes of one training run: fewer than the job has where the launcher starts on the
/// first only, or where each node trains by itself. 0: not known.
int training_nodes(const JobScript& script);
/// GPUs of these nodes that the job reserves; 0: not known.
int gpus_of_training(const JobScript& script);

}  // namespace foretrain

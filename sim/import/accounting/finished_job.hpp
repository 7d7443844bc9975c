// A finished job as the batch system's accounting describes it: what it was given, what it used, and how it
// ended.
// A figure that no file holds has no value, and every figure carries the place where it was read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// The end of a job, in states that all batch systems share. `unknown` stands for a text that is no state of
/// Slurm.
enum class JobState : std::uint8_t {
  unknown,
  completed,
  failed,
  timeout,
  out_of_memory,
  cancelled,
  node_failure,
  preempted,
  running,
  pending
};
/// Returns the state in words for people, such as "out of memory".
std::string_view name_of(JobState state);
/// Reads a state as Slurm prints it: COMPLETED, "CANCELLED by 1000", the short form CD, or OUT_OF_ME+ as
/// sacct cuts it.
/// Case does not matter. Returns `unknown` for other texts.
JobState job_state(std::string_view text);

/// The place in an input file where a figure was read, for messages and reports.
struct FigurePlace {
  std::string file;
  /// Line of the file, from 1; 0 when the file is JSON, where no line is known.
  int line = 0;
  /// Column or key of the figure, such as "AllocTRES" or "Run Time".
  std::string said;
  friend bool operator==(const FigurePlace&, const FigurePlace&) = default;
};
/// Returns the place in one line, such as "sacct.txt:3 (AllocTRES)". Control characters of the file are made
/// printable.
std::string text_of(const FigurePlace& place);

/// A figure of an accounting file with its place in the file.
template <class T>
struct Figure {
  T value{};
  FigurePlace at{};
};
/// A figure that a file may or may not hold.
template <class T>
using Known = std::optional<Figure<T>>;

/// The measurements of one GPU while the job ran, as jobstats, seff or a table of nvidia-smi give them.
struct MeasuredGpu {
  /// Name of the node; empty when the table has no column for it.
  std::string node;
  /// Number of the GPU on its node, from 0.
  int index = 0;
  /// Share of the time in which a kernel ran, 0..1.
  std::optional<double> utilization;
  /// Bytes of GPU memory: the highest use that was seen, and the capacity.
  std::optional<double> memory_used, memory_total;
  friend bool operator==(const MeasuredGpu&, const MeasuredGpu&) = default;
};

/// A finished job as accounting files describe it. A member that no file gives has no value.
struct FinishedJob {
  /// Identifier such as "123" or "123_4" (a task of an array); empty when the file names none.
  std::string id;
  /// Texts as written: the moments have the format of their tool and are for display only.
  Known<std::string> name, cluster, partition, node_list, start, end;
  /// The state as the tool wrote it.
  Known<std::string> state_text;
  Known<JobState> state;
  Known<int> exit_code, signal;
  /// Counts of the whole job, except cpus_per_task.
  Known<int> nodes, gpus, cpus, tasks, cpus_per_task;
  Known<std::string> gpu_type;
  /// Run time and time limit in seconds. A limit of 0 means that there is none.
  Known<double> elapsed_s, limit_s;
  /// Host memory in bytes, summed over all nodes: requested, and the highest use.
  Known<double> memory_asked, memory_used;
  /// CPU seconds of all processes, and their share of cores times run time.
  Known<double> cpu_s, cpu_efficiency;
  /// Mean over all GPUs, 0..1, where the tool gives no value for each GPU.
  Known<double> gpu_utilization;
  /// Highest use of memory of one GPU, in bytes.
  Known<double> gpu_memory_used;
  /// The GPUs that the tool measured.
  Known<std::vector<MeasuredGpu>> measured_gpus;
};

/// Returns CPU seconds divided by cores times run time, or the share that the file itself gives.
/// No value when one of the three is missing or zero. The share may exceed 1 where hardware threads count as
/// cores elsewhere.
std::optional<double> cpu_efficiency(const FinishedJob& job);
/// Returns the number of GPUs that the accounting states, else the number of GPUs that were measured.
std::optional<int> gpu_count(const FinishedJob& job);
/// Returns the mean utilisation over the measured GPUs, 0..1, else the value that the accounting gives for
/// all of them.
std::optional<double> gpu_utilization(const FinishedJob& job);
/// Returns the highest use of memory of any one GPU, in bytes.
std::optional<double> gpu_memory_used(const FinishedJob& job);
/// Returns the memory capacity of one GPU in bytes: that of the first GPU for which it is known.
std::optional<double> gpu_memory_total(const FinishedJob& job);

/// Joins the jobs of several files: jobs with the same id are one job, and the first file that holds a figure
/// counts.
/// Jobs without an id are joined with the only job that has one. The order of first occurrence is kept.
/// Throws InputError with both places where two files contradict each other in GPUs, nodes, CPUs or run time,
/// and where a file without an id meets several jobs.
std::vector<FinishedJob> joined_jobs(std::vector<FinishedJob> jobs);

}  // namespace foretrain

// A job as the batch system's accounting tells of it afterwards: what it had, what it used, how it ended.
// What no file says stays empty, and every figure knows where it was read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// How a job ended, in words that all batch systems share.
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
std::string_view name_of(JobState state);
/// Of COMPLETED, "CANCELLED by 1000", CD, OUT_OF_ME+, …; unknown for what Slurm does not say.
JobState job_state(std::string_view text);

/// Where a figure stands.
struct FigurePlace {
  std::string file;
  int line = 0;      ///< 0: in a JSON text, which has no lines of interest
  std::string said;  ///< the column or key: "AllocTRES", "Run Time"
  friend bool operator==(const FigurePlace&, const FigurePlace&) = default;
};
/// "sacct.txt:3 (AllocTRES)".
std::string text_of(const FigurePlace& place);

/// A figure of an accounting file with its place in the file.
template <class T>
struct Figure {
  T value{};
  FigurePlace at{};
};
template <class T>
using Known = std::optional<Figure<T>>;

/// What was seen of one GPU while the job ran.
struct MeasuredGpu {
  std::string node;
  int index = 0;
  std::optional<double> utilization;                ///< share of the time in which a kernel ran, 0..1
  std::optional<double> memory_used, memory_total;  ///< bytes
  friend bool operator==(const MeasuredGpu&, const MeasuredGpu&) = default;
};

/// A finished job as accounting files describe it. A member that no file gives has no value.
struct FinishedJob {
  std::string id;  ///< empty: the file names none
  Known<std::string> name, cluster, partition, node_list, start, end;
  Known<std::string> state_text;  ///< as written
  Known<JobState> state;
  Known<int> exit_code, signal;
  Known<int> nodes, gpus, cpus, tasks, cpus_per_task;  ///< of the whole job
  Known<std::string> gpu_type;
  Known<double> elapsed_s, limit_s;         ///< a limit of 0: none
  Known<double> memory_asked, memory_used;  ///< bytes of all nodes
  Known<double> cpu_s, cpu_efficiency;      ///< CPU seconds; share of cores times elapsed
  Known<double> gpu_utilization;            ///< mean of all GPUs, 0..1
  Known<double> gpu_memory_used;            ///< bytes of one GPU
  Known<std::vector<MeasuredGpu>> measured_gpus;
};

/// CPU seconds of cores times elapsed; none where neither is known. At most what the cores have, but for what
/// hardware threads do to it.
std::optional<double> cpu_efficiency(const FinishedJob& job);
/// As the accounting says, else as many as were seen.
std::optional<int> gpu_count(const FinishedJob& job);
/// Mean over the GPUs that were seen, else what the accounting says of all of them.
std::optional<double> gpu_utilization(const FinishedJob& job);
/// The largest of one GPU, in bytes.
std::optional<double> gpu_memory_used(const FinishedJob& job);
/// Of one GPU, in bytes.
std::optional<double> gpu_memory_total(const FinishedJob& job);

/// Jobs of several files with one id are one job, and what names no id belongs to the only job there is.
/// Throws InputError with both places where two files contradict each other.
std::vector<FinishedJob> joined_jobs(std::vector<FinishedJob> jobs);

}  // namespace foretrain

// Scripts that run a sweep as a job array. Each job runs one shard and has a database of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// A sweep that is submitted to a batch system, with its resources.
struct SweepSubmission {
  /// Name of the sweep.
  std::string name;
  /// Program to start.
  std::string program;
  /// File of the sweep.
  std::string sweep;
  /// Prefix of the databases: PREFIX-3.sqlite.
  std::string database;
  std::int64_t shards = 1;
  /// Worker processes of each job.
  int threads = 1;
  /// Memory of each job in MiB.
  std::int64_t memory_mib = 0;
  /// Time limit of each job in seconds.
  double seconds = 0;
  /// Sentence on where the limits come from.
  std::string estimate;
  /// Names for Kubernetes: the container, and the volume claim that has the sweep and receives the results.
  std::string image, claim;
};

/// A batch system, and the writer of its script.
struct SweepEngine {
  /// Name of its option, such as "slurm".
  std::string_view name;
  /// Help text of the option.
  std::string_view meaning;
  /// Writes the script. Precondition: names were checked, as by written_submission().
  std::string (*write)(const SweepSubmission&);
  /// Program and arguments that submit; the script's name follows.
  std::vector<std::string> submit;
  /// Characters that no name may have, because the language cannot quote them.
  std::string_view refused{};
  /// The reason, as a clause.
  std::string_view why_refused{};
};
/// Returns Slurm, HTCondor, Kubernetes and Flux.
const std::vector<SweepEngine>& sweep_engines();

/// Returns the script of an engine, in which every name is one word. Throws InputError for names with control
/// characters, and for names that the engine's language cannot quote.
std::string written_submission(const SweepEngine& engine, const SweepSubmission& submission);

}  // namespace foretrain

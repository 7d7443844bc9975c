// Scripts that run a sweep as a job array: one job a shard, each into a database of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// A sweep that is submitted to a batch system: cases, workers and limits.
struct SweepSubmission {
  std::string name;      ///< of the sweep
  std::string program;   ///< that is started
  std::string sweep;     ///< file
  std::string database;  ///< prefix: PREFIX-3.sqlite
  std::int64_t shards = 1;
  int threads = 1;              ///< of each
  std::int64_t memory_mib = 0;  ///< of each
  double seconds = 0;           ///< of each: its time limit
  std::string estimate;         ///< where that comes from, as a sentence
  std::string image, claim;  ///< of Kubernetes: container, volume claim that has the sweep and gets results
};

/// A batch system that sweeps are submitted to, and the writer of its script.
struct SweepEngine {
  std::string_view name;                         ///< "slurm", as its option
  std::string_view meaning;                      ///< of the option
  std::string (*write)(const SweepSubmission&);  ///< of names that were checked: written_submission()
  std::vector<std::string> submit;               ///< program and arguments before the script's name
  std::string_view refused{};      ///< characters that no name may have, as they cannot be quoted
  std::string_view why_refused{};  ///< a clause
};
/// Slurm, HTCondor, Kubernetes, Flux.
const std::vector<SweepEngine>& sweep_engines();

/// The script of an engine. Every name is one word of it, whatever it holds. Throws InputError for names with
/// control characters, and for those that the engine's language cannot quote.
std::string written_submission(const SweepEngine& engine, const SweepSubmission& submission);

/// As one word of a POSIX shell, whatever is in it.
std::string shell_word(std::string_view text);

}  // namespace foretrain

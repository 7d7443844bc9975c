// The tables [run], [run.every] and [measured]: numbers of GPUs, length of the run, work around the steps,
// and the measurement.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// Largest number of GPUs that a scenario may request, before the cluster's size is known.
inline constexpr std::int64_t kMostGpus = 1'000'000;

/// The contents of [run] while they are read.
struct RunSection {
  Scenario& scenario;
  /// Numbers of GPUs that this combination cannot use are omitted.
  bool one_of_a_study;
};

/// The contents of [measured] while they are read; one of three values gives the step.
struct MeasuredSection {
  Anchor anchor{};
  std::optional<double> samples_per_s{};
  std::optional<Time> step{}, epoch{};
};

/// Return the declared keys of the tables; periodic_keys() are those of each table in [run.every].
const Keys<RunSection>& run_keys();
const Keys<Periodic>& periodic_keys();  ///< of each table in [run.every]
const Keys<MeasuredSection>& measured_keys();

/// Read their tables without calling finish(). [run] requires that cluster and global batch are read,
/// [measured] that batch and samples are read.
void read_run(TableReader& run, bool one_of_a_study, Scenario& scenario);
void read_measured(TableReader& measured, Scenario& scenario);

}  // namespace foretrain

// The tables [run], [run.every] and [measured]: on how many GPUs and how long, what happens around the steps,
// and what was measured.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// GPUs that a scenario may ask for, before the cluster's size is known.
inline constexpr std::int64_t kMostGpus = 1'000'000;

/// What [run] is read into.
struct RunSection {
  Scenario& scenario;
  bool one_of_a_study;  ///< numbers of GPUs that this combination cannot use are left out
};

/// What [measured] is read into: one of three tells the step.
struct MeasuredSection {
  Anchor anchor{};
  std::optional<double> samples_per_s{};
  std::optional<Time> step{}, epoch{};
};

const Keys<RunSection>& run_keys();
const Keys<Periodic>& periodic_keys();  ///< of each table in [run.every]
const Keys<MeasuredSection>& measured_keys();

/// Neither calls finish(). [run] needs cluster and global batch to be read, [measured] batch and samples.
void read_run(TableReader& run, bool one_of_a_study, Scenario& scenario);
void read_measured(TableReader& measured, Scenario& scenario);

}  // namespace foretrain

// The tables of a scenario, one function each: from a table to its part of the Scenario.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

/// Batch sizes that a scenario may ask for, per GPU and over all GPUs.
inline constexpr std::int64_t kLargestBatch = 1'000'000;
/// GPUs that a scenario may ask for, before the cluster's size is known.
inline constexpr std::int64_t kMostGpus = 1'000'000;

/// Each reads one table into `scenario` and reports what is wrong; none calls finish(). [model] without its
/// name and optimizer.
void read_training(TableReader& model, Scenario& scenario);
/// [run] without gpus, with [run.every].
void read_run(TableReader& run, Scenario& scenario);
/// run.gpus against the cluster's size, or by default 1, 2, 4, … up to one node, then whole nodes doubling up
/// to the cluster.
void read_gpus(TableReader& run, Scenario& scenario);
/// The same for a combination of a study: numbers that the cluster or the global batch do not allow are left
/// out; at least one GPU stays.
void read_possible_gpus(TableReader& run, Scenario& scenario);
/// [measured]; needs batch and samples to be read.
void read_measured(TableReader& measured, Scenario& scenario);

}  // namespace foretrain

// Of very many samples those that constants are fitted to.
#pragma once

#include <vector>

#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Beyond these numbers a fit only takes longer: a few dozen constants are decided by far fewer samples.
inline constexpr std::size_t kMostFittedSamples = 2000, kMostFittedJobs = 64;

/// Which samples are second measurements: collectives in place (in_place=1) of which the same one out of
/// place is there as well. Those of foretrain-bench's all-reduce are in place alone, as trainings run it:
/// they count.
std::vector<bool> second_times(const std::vector<Sample>& samples);

/// All that `takes` wants, in their order, up to those numbers. Of more jobs (GPUs, nodes and settings of a
/// collective or a training), evenly many of the small and the large ones. Of more samples, equally many of
/// each operation, job and precision, as far as it has so many; drawn by lot, always the same ones.
std::vector<Sample> samples_to_fit(const std::vector<Sample>& samples, bool (*takes)(const Sample&));

}  // namespace foretrain

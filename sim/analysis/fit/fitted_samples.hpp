// The choice of samples that constants are fitted to, out of very many.
#pragma once

#include <vector>

#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Most samples and jobs of a fit. More would only take longer, because a few dozen constants are determined
/// by far fewer samples.
inline constexpr std::size_t kMostFittedSamples = 2000, kMostFittedJobs = 64;

/// Returns, by sample, true for second measurements: collectives in place (in_place=1) of which the same
/// collective out of place is there as well. foretrain-bench measures its all-reduce in place only, as
/// trainings run it; those count.
std::vector<bool> second_times(const std::vector<Sample>& samples);

/// Returns the samples that `takes` accepts, in their order, up to those limits. Of too many jobs (GPUs,
/// nodes and settings of a collective or a training) it keeps small and large ones evenly. Of too many
/// samples it keeps equally many of each operation, job and precision, as far as there are so many; the
/// random choice is always the same.
std::vector<Sample> samples_to_fit(const std::vector<Sample>& samples, bool (*takes)(const Sample&));

}  // namespace foretrain

// Measurements that are probably wrong: they contradict the machine's other runs, are faster than its links
// allow, or scale unlike similar runs.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

/// A series, with one sentence on what is odd about it and what may be the reason.
struct SuspectSeries {
  std::string series, why;
  friend bool operator==(const SuspectSeries&, const SuspectSeries&) = default;
};

/// Returns suspect collectives: times that fall while the size grows; two runs of one operation on one
/// machine that differ; large messages slower or faster than the described links; small ones slower than
/// their latency. In the order of the validation's series, with at most one sentence of each kind for a
/// series.
std::vector<SuspectSeries> suspect_series(const CollectiveValidation& validation);

/// Returns suspect training runs: throughput that falls where the described machine gains; more than perfect
/// scaling; runs that are far slower than predicted while the other series of their cluster are not.
std::vector<SuspectSeries> suspect_series(const Validation& validation);

}  // namespace foretrain

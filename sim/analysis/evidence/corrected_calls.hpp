// From a field of residuals to the correction of one collective's curve, size by size.
#pragma once

#include <cstdint>
#include <string>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/evidence/residual_field.hpp"

namespace foretrain {

/// One call as evidence describes it.
struct DescribedCall {
  std::string cluster, op;
  CollectiveEvidence kind{};
  std::string algorithm, protocol;
  std::int64_t bytes = 0;
  int gpus = 1, nodes = 1;
};
Observation call_observation(const DescribedCall& call);

/// Times, bandwidths and spreads become what measured runs like them say, where a row of the asking source is
/// among them: what others measured says nothing good of a stranger's calls (docs/models/evidence.md). Single
/// calls, other transports than NCCL and points of which nobody knows anything stay as simulated.
void correct_calls(CollectiveCurve& curve, const EvidenceUse& use);

/// Whether a point was.
bool is_corrected(const CollectiveCurve& curve);

}  // namespace foretrain

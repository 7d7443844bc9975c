// The correction of one collective's curve by a field of residuals, size by size.
#pragma once

#include <cstdint>
#include <string>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/evidence/residual_field.hpp"

namespace foretrain {

/// A call as evidence describes it.
struct DescribedCall {
  std::string cluster, op;
  CollectiveEvidence kind{};
  std::string algorithm, protocol;
  std::int64_t bytes = 0;
  int gpus = 1, nodes = 1;
};
/// Returns the observation of a call, without times.
Observation call_observation(const DescribedCall& call);

/// Corrects times, bandwidths and spreads of a curve by measured calls, at sizes where a row of the
/// question's own source is among them: other sources' rows do not improve the prediction of a new user's
/// calls (docs/models/uncertainty.md). Single calls, transports other than NCCL and points without an
/// estimate stay as simulated.
void correct_calls(CollectiveCurve& curve, const EvidenceUse& use);

/// Returns true if some point of the curve was corrected.
bool is_corrected(const CollectiveCurve& curve);

}  // namespace foretrain

// Rows of a store that are runs of the very training which is asked about, and what they say of the next one.
#pragma once

#include <span>
#include <vector>

#include "sim/analysis/evidence/residual_field.hpp"

namespace foretrain {

/// The same kind of observation of the same network on the same cluster and GPU, in the same precision and
/// framework, with the same batch, and where the row says it the same execution; of several GPUs also the
/// same strategy, number of GPUs and of nodes. A store does not name every setting, so rows whose prediction
/// differs from that of the question (`asked.predicted`, more than 0) by over a tenth are other runs. Rows of
/// the question's source come first: where there are any, others do not count. Of rows of one source with the
/// same time one counts.
std::vector<const StoredRow*> rows_of_same_run(const EvidenceTable& table, const Observation& asked,
                                               const ExcludedRows& without = {});

/// What they say of one further run as an estimate: its residual against `asked.predicted` and, by
/// further_run(), its spread. Without rows nothing is within reach.
Estimate estimate_by_same_runs(const EvidenceTable& table, const Observation& asked,
                               std::span<const StoredRow* const> rows);
inline Estimate estimate_by_same_runs(const ResidualField& field, const Observation& asked,
                                      const ExcludedRows& without = {}) {
  return estimate_by_same_runs(field.table(), asked, rows_of_same_run(field.table(), asked, without));
}

/// Whether runs of the very training may take the place of the simulation: they leave the next one open by
/// less than a third, and are, where others measured them, not off by more than a factor of three.
bool may_calibrate(const Estimate& estimate, const Observation& asked);

}  // namespace foretrain

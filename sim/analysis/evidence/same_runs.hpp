// Rows of a store that are runs of the very training of a question, and what they say of the next run.
#pragma once

#include <span>
#include <vector>

#include "sim/analysis/evidence/residual_field.hpp"

namespace foretrain {

/// Returns the rows of the same kind of observation, network, cluster, GPU, precision, framework and batch,
/// and where the row states it the same execution; on several GPUs also the same strategy, number of GPUs and
/// of nodes.
///
/// A store does not name every setting, so rows whose prediction differs from that of the question
/// (`asked.predicted`, which must be positive) by more than a tenth are other runs. Rows of the question's
/// own source take precedence: where there are any, others do not count. Of rows of one source with the same
/// time, one counts.
std::vector<const StoredRow*> rows_of_same_run(const EvidenceTable& table, const Observation& asked,
                                               const ExcludedRows& without = {});

/// Returns the estimate of one further run from these rows: its residual against `asked.predicted` and, by
/// further_run(), its spread. Without rows nothing is within reach.
Estimate estimate_by_same_runs(const EvidenceTable& table, const Observation& asked,
                               std::span<const StoredRow* const> rows);
inline Estimate estimate_by_same_runs(const ResidualField& field, const Observation& asked,
                                      const ExcludedRows& without = {}) {
  return estimate_by_same_runs(field.table(), asked, rows_of_same_run(field.table(), asked, without));
}

/// Returns true if runs of the very training may take the place of the simulation: they leave the next run
/// open by less than a third, and if others measured them, they differ from it by at most a factor of three.
bool may_calibrate(const Estimate& estimate, const Observation& asked);

}  // namespace foretrain

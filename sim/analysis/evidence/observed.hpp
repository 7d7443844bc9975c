// Measured rows as evidence: each beside its prediction.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/predict.hpp"
#include "sim/scenario/csv/evidence_inputs.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"
#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/provenance.hpp"

namespace foretrain {

/// How rows become evidence.
struct ObservationOptions {
  std::string version;      ///< of the program, kept with each row
  std::string source{};     ///< whose rows they are; empty: what each row names first (publication_of)
  Provenance provenance{};  ///< what names and sources of rows tell
  bool jobs = false;        ///< also steps of larger jobs whose series has no row of one GPU
};

/// The rows of evidence stores that can be predicted, with what each was predicted from, and reasons for the
/// others.
struct MeasuredEvidence {
  std::vector<Observation> rows;
  /// What the rows were predicted from, with what rules told of them; none where each row has a source of its
  /// own, as such files are kept by whoever publishes the rows.
  std::vector<EvidenceInput> inputs{};
  std::vector<std::string> skipped;  ///< "line 7: unknown cluster", of rows that nothing is predicted for
  std::vector<std::string> refused;  ///< rows whose unit must be wrong, with what was expected
};

/// Steps on one GPU, and of larger jobs the ratio to their one-GPU row, or the step where there is none;
/// collectives each by itself. Kernels and large models are no evidence.
MeasuredEvidence evidence_of(const MeasurementFile& file, const ObservationOptions& options,
                             const Progress& progress = nullptr);

}  // namespace foretrain

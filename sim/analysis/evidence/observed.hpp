// Measured rows as evidence: each row beside its prediction.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/predict.hpp"
#include "sim/scenario/csv/evidence_inputs.hpp"
#include "sim/scenario/csv/evidence_rows.hpp"
#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/provenance.hpp"

namespace foretrain {

/// Options for the conversion of rows into evidence.
struct ObservationOptions {
  /// Version of the program, kept with each row.
  std::string version;
  /// Owner of the rows; empty for the first source that each row names (publication_of).
  std::string source{};
  /// Settings that names and sources of rows imply.
  Provenance provenance{};
  /// Includes steps of larger jobs whose series has no row of one GPU.
  bool jobs = false;
};

/// The rows that can be predicted, the inputs of their predictions, and reasons for all other rows.
struct MeasuredEvidence {
  std::vector<Observation> rows;
  /// Inputs that the rows were predicted from, with what provenance rules added. Empty where each row has a
  /// source of its own, because whoever publishes such rows keeps those files.
  std::vector<EvidenceInput> inputs{};
  /// Rows that cannot be predicted: "line 7: unknown cluster".
  std::vector<std::string> skipped;
  /// Rows whose unit must be wrong, with the expected value.
  std::vector<std::string> refused;
};

/// Predicts all rows of a file: steps on one GPU, and for larger jobs the ratio to their one-GPU row, or the
/// step where there is none; collectives each by itself. Throws InputError for kernels and large models.
MeasuredEvidence evidence_of(const MeasurementFile& file, const ObservationOptions& options,
                             const Progress& progress = nullptr);

}  // namespace foretrain

// Inputs from which rows of evidence were predicted, as comment lines of their store. Another version of the
// program can predict the rows again from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/measurements.hpp"

namespace foretrain {

/// The input of one row: a measured row of a file, or a finished job.
struct EvidenceInput {
  enum class Kind : std::uint8_t { training, collective, job };
  Kind kind = Kind::training;
  /// The owner, then the columns of the kind.
  std::vector<std::string> fields;
  const std::string& source() const { return fields.front(); }
  /// Returns the series, or the job, as in the row.
  const std::string& run() const { return fields[1]; }
  /// Returns a text that is equal for two inputs that state one measurement. For a training it omits the
  /// settings with which it was predicted.
  std::string identity() const;
};

/// A finished job with the training that it ran.
struct JobInput {
  std::string source, run;
  /// Number of nodes over which the GPUs are spread; 0: nodes are filled.
  int gpus = 1, spread_nodes = 0;
  double elapsed_s = 0;
  /// TOML; its name is a path only if the text names files beside it.
  SourceText scenario{};
};

/// Return the input of a row. They return nullopt if a setting has a character that its column cannot hold.
std::optional<EvidenceInput> input_of(const Measurement& row, const std::string& source);
std::optional<EvidenceInput> input_of(const CollectiveMeasurement& row, const std::string& source);
EvidenceInput input_of(const JobInput& job);

/// Returns an input as one comment line with its end; old versions of the program skip it.
std::string input_line(const EvidenceInput& input);
/// Returns the inputs of a store; lines that are no inputs are other comments.
std::vector<EvidenceInput> read_inputs(std::string_view store);

/// Returns inputs of one kind, trainings or collectives, as a file of measurements. Throws InputError when
/// they cannot be read.
MeasurementFile measurements_of(const std::vector<EvidenceInput>& inputs);
/// Returns the input of a job. Throws InputError for fields that are not valid.
JobInput job_of(const EvidenceInput& input);

}  // namespace foretrain

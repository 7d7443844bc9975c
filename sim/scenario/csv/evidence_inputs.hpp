// What rows of evidence were predicted from, as comment lines of their store: another version of the program
// predicts the rows again from them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/measurements.hpp"

namespace foretrain {

/// One measured row of a file, or one finished job.
struct EvidenceInput {
  enum class Kind : std::uint8_t { training, collective, job };
  Kind kind = Kind::training;
  std::vector<std::string> fields;  ///< whose it is, then the columns of its kind
  const std::string& source() const { return fields.front(); }
  /// The series, or the job: as the row's.
  const std::string& run() const { return fields[1]; }
  /// Equal for two inputs that state one measurement: of a training without what it was predicted with.
  std::string identity() const;
};

/// A finished job with what it trained.
struct JobInput {
  std::string source, run;
  int gpus = 1, spread_nodes = 0;  ///< 0: nodes are filled; else the GPUs are spread over so many
  double elapsed_s = 0;
  SourceText scenario{};  ///< TOML; its name is a path only where the text names files beside it
};

/// None where a setting has a character that its column cannot hold.
std::optional<EvidenceInput> input_of(const Measurement& row, const std::string& source);
std::optional<EvidenceInput> input_of(const CollectiveMeasurement& row, const std::string& source);
EvidenceInput input_of(const JobInput& job);

/// One comment line with its end; old versions of the program skip it.
std::string input_line(const EvidenceInput& input);
/// Those of a store; lines that are none are other comments.
std::vector<EvidenceInput> read_inputs(std::string_view store);

/// Inputs of one kind, trainings or collectives, as a file of measurements. Throws InputError.
MeasurementFile measurements_of(const std::vector<EvidenceInput>& inputs);
/// Throws InputError for fields that are none of a job.
JobInput job_of(const EvidenceInput& input);

}  // namespace foretrain

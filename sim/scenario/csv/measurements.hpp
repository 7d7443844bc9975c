// Measured trainings, collectives, kernels and steps of large models as CSV: what `validate` compares
// predictions with.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/scenario/csv/fine_tuning_rows.hpp"
#include "sim/scenario/csv/kernel_rows.hpp"
#include "sim/scenario/csv/large_model_rows.hpp"

namespace foretrain {

/// What a measured value may be in its unit: what lies beyond was not meant, and errors against it are no
/// numbers.
inline constexpr double kLeastMeasured = 1e-9, kMostMeasured = 1e15;

/// Largest measurement file, and its largest number of rows.
inline constexpr std::size_t kLargestMeasurements = 16u << 20;
inline constexpr std::size_t kMostMeasurements = 1'000'000;

using Settings = std::vector<std::pair<std::string, std::string>>;

/// Throughput or time of one training run.
struct Measurement {
  enum class Metric { samples_per_s, step_s, epoch_s, rate };
  std::string series, model, cluster, strategy, precision;
  std::int64_t batch_per_gpu = 1;
  int gpus = 1, nodes = 1;
  Metric metric = Metric::samples_per_s;
  double value = 0;  ///< in the metric's unit; rate: any unit, only ratios within a series count
  Settings settings;
  std::string source;
  int line = 0;
};

/// Time of one collective.
struct CollectiveMeasurement {
  std::string series, cluster, op;
  int gpus = 1, nodes = 1;
  std::int64_t bytes = 0;
  double time_us = 0;
  Settings settings;
  std::string source;
  int line = 0;
};

/// All rows of a file of measurements, and the kind of file that its header announces.
struct MeasurementFile {
  enum class Kind { scaling, collective, kernels, large_models, fine_tunings };
  Kind kind = Kind::scaling;
  std::vector<Measurement> scaling;
  std::vector<CollectiveMeasurement> collective;
  std::vector<KernelMeasurement> kernels;
  std::vector<LargeModelMeasurement> large_models;
  std::vector<FineTuningMeasurement> fine_tunings;
  /// Rows of large models that could not be read, by line, with the reason; the others are read all the same.
  std::vector<std::pair<int, std::string>> unread;
};

/// Reads any kind, told apart by the header line. Lines that start with '#' are comments; fields follow
/// RFC 4180; columns may stand in any order. Reports every wrong field at its place.
MeasurementFile read_measurements(const SourceText& source, Diagnostics& diagnostics);

}  // namespace foretrain

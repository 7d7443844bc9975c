// Measured trainings, collectives, kernels and steps of large models as CSV; `validate` compares predictions
// with them.
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

/// Range of a measured value in its unit. Values outside are mistakes, and errors against them would be
/// meaningless.
inline constexpr double kLeastMeasured = 1e-9, kMostMeasured = 1e15;

/// Largest measurement file in bytes, and its largest number of rows.
inline constexpr std::size_t kLargestMeasurements = 16u << 20;
inline constexpr std::size_t kMostMeasurements = 1'000'000;

/// Settings "key=value" of a row, in its order.
using Settings = std::vector<std::pair<std::string, std::string>>;

/// Throughput or time of one training run.
struct Measurement {
  enum class Metric { samples_per_s, step_s, epoch_s, rate };
  std::string series, model, cluster, strategy, precision;
  std::int64_t batch_per_gpu = 1;
  int gpus = 1, nodes = 1;
  Metric metric = Metric::samples_per_s;
  /// Value in the metric's unit; rate: any unit, only ratios within a series count.
  double value = 0;
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
  /// Rows of large models that could not be read, by line, with the reason. The other rows are read all the
  /// same.
  std::vector<std::pair<int, std::string>> unread;
};

/// Reads a file of any kind; the header line determines the kind. Lines that start with '#' are comments;
/// fields follow RFC 4180; columns may be in any order. Reports every wrong field at its place.
MeasurementFile read_measurements(const SourceText& source, Diagnostics& diagnostics);

}  // namespace foretrain

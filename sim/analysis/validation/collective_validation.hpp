// Predicted against measured times of collectives, scored row by row.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/uncertainty/collective_spread.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/collective/nccl/node_graphs.hpp"
#include "sim/collective/protocol.hpp"
#include "sim/scenario/csv/measurements.hpp"

namespace foretrain {

/// Size from which bandwidth decides more than latency; errors of such messages are also counted by
/// themselves.
inline constexpr std::int64_t kLargeMessage = 4 << 20;

/// A measured call with its prediction; times are in microseconds.
struct ValidatedCollective {
  std::int64_t bytes = 0;
  double measured = 0, predicted = 0;
  /// |predicted / measured - 1|.
  double error = 0;
  /// The 90 % interval of the prediction.
  double low = 0, high = 0;
  /// Group of measured rows that the interval comes from.
  CollectiveEvidence kind{};
  /// The case that the interval is a function of.
  SpreadCase spread_case{};
  std::string source{};
  /// Line of the file.
  int line = 0;
  /// NCCL's own forecast for its choice, in microseconds; 0 where it makes none (sends and receives, one
  /// rank).
  double nccl_model = 0;
  std::string_view algorithm;
  Protocol protocol = Protocol::simple;
  int channels = 0;
};

/// A series of measured collectives with the prediction and error of each message size.
struct ValidatedCollectiveSeries {
  std::string series, cluster, op;
  int gpus = 1, nodes = 1;
  double median = 0, p90 = 0, worst = 0, bias = 0;
  /// Median error of sizes from kLargeMessage on; 0 without such sizes.
  double large_median = 0;
  std::vector<ValidatedCollective> points;
};

/// Measured collectives against predictions, by series, with error statistics.
struct CollectiveValidation {
  int rows = 0, scored = 0;
  std::vector<SkippedRow> skipped;
  ErrorStatistics error;
  /// Errors of sizes from kLargeMessage on.
  ErrorStatistics large;
  /// Errors of NCCL's own forecast, on the rows that have one.
  ErrorStatistics nccl_model;
  int large_rows = 0, nccl_rows = 0;
  /// Share of scored rows whose 90 % interval contains the measured value.
  double coverage = 0;
  /// Median width of the intervals relative to the prediction.
  double width = 0;
  /// Series in descending order of the median error.
  std::vector<ValidatedCollectiveSeries> series;
};

/// The differences of one validation among many of the same rows.
struct CollectiveTrial {
  /// Change of every cluster; empty for none.
  std::function<ClusterSpec(ClusterSpec)> change{};
  /// Node graphs that earlier validations searched; null for a cache of its own.
  nccl::NodeGraphCache* searched = nullptr;
};

/// Predicts and scores all rows. GPUs are spread evenly over a row's nodes. Processes are started as is usual
/// for nccl-tests, unless launch.processes_per_node states otherwise. A row is skipped with the reason if its
/// cluster is unknown, its job does not fit, one of its settings does not exist, or it sends no byte.
/// `settings` apply to every row, as for --set; throws InputError when one of them is wrong.
CollectiveValidation validate_collectives(const std::vector<CollectiveMeasurement>& rows,
                                          const std::vector<std::string>& settings,
                                          const Progress& progress = nullptr,
                                          const CollectiveTrial& trial = {});

}  // namespace foretrain

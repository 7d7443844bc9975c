// Predicted against measured collective times, scored row by row.
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

/// From this size on, bandwidth decides more than latency: errors there are also counted alone.
inline constexpr std::int64_t kLargeMessage = 4 << 20;

/// Times in microseconds.
struct ValidatedCollective {
  std::int64_t bytes = 0;
  double measured = 0, predicted = 0;
  double error = 0;           ///< |predicted / measured - 1|
  double low = 0, high = 0;   ///< the 90 % interval of the prediction
  CollectiveEvidence kind{};  ///< what its interval is known by
  SpreadCase spread_case{};   ///< what its interval is a function of
  std::string source{};
  int line = 0;  ///< of the file
  /// NCCL's own forecast for what it would run; 0 where it makes none (sends and receives, one rank).
  double nccl_model = 0;
  std::string_view algorithm;
  Protocol protocol = Protocol::simple;
  int channels = 0;
};

/// One series of measured collectives with the prediction and error of each message size.
struct ValidatedCollectiveSeries {
  std::string series, cluster, op;
  int gpus = 1, nodes = 1;
  double median = 0, p90 = 0, worst = 0, bias = 0;
  double large_median = 0;  ///< of sizes from kLargeMessage on; 0 without such
  std::vector<ValidatedCollective> points;
};

/// Measured collectives against predictions, by series, with error statistics.
struct CollectiveValidation {
  int rows = 0, scored = 0;
  std::vector<SkippedRow> skipped;
  ErrorStatistics error;
  ErrorStatistics large;       ///< sizes from kLargeMessage on
  ErrorStatistics nccl_model;  ///< the rows for which NCCL has a forecast, by that
  int large_rows = 0, nccl_rows = 0;
  double coverage = 0;  ///< share of scored rows whose 90 % interval contains what was measured
  double width = 0;     ///< median of the intervals' widths over what is predicted
  std::vector<ValidatedCollectiveSeries> series;  ///< largest median first
};

/// What one of many validations of the same rows has of its own.
struct CollectiveTrial {
  std::function<ClusterSpec(ClusterSpec)> change{};  ///< of every cluster; none: as it is
  nccl::NodeGraphCache* searched = nullptr;          ///< nodes that earlier ones searched; none: its own
};

/// GPUs are spread evenly over the row's nodes; processes as nccl-tests is usually started unless
/// launch.processes_per_node says otherwise. Rows of a cluster that is not known here, of a job that does not
/// fit, with settings that are none, or without a byte to send are skipped with the reason. `settings` as for
/// --set, over every row; throws InputError when one of them is wrong.
CollectiveValidation validate_collectives(const std::vector<CollectiveMeasurement>& rows,
                                          const std::vector<std::string>& settings,
                                          const Progress& progress = nullptr,
                                          const CollectiveTrial& trial = {});

}  // namespace foretrain

// A recorded step beside its prediction: account by account, and what the largest differences may come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/traces/trace_summary.hpp"

namespace foretrain {

/// One account of both; the rows but for the first sum to it.
struct ComparedAccount {
  /// "step", "compute", "exposed_communication", "host", "input_stall", "optimizer", "other".
  std::string key;
  std::string what;  ///< for people
  double measured_s = 0, predicted_s = 0;
  double difference_s() const { return measured_s - predicted_s; }
};

/// A difference in words.
struct NamedDifference {
  std::string key, text;
  double seconds = 0;  ///< measured - predicted
};

/// A recorded step beside its prediction, account by account.
struct TraceDifference {
  std::string file, model, cluster, strategy;
  int gpus = 1;
  std::int64_t batch_per_gpu = 0;
  double recording_slowdown = 0;  ///< that the prediction's host has, too; 0: it has the cluster's own
  std::vector<ComparedAccount> accounts;
  std::vector<NamedDifference> largest;  ///< at most three, the largest first
  std::vector<std::int64_t> measured_buckets, predicted_buckets;
  std::vector<std::string> notes;
  double error() const;  ///< predicted / measured - 1 of the step
};

inline constexpr std::size_t kNamedDifferences = 3;
/// Below this share of the measured step a difference is not named.
inline constexpr double kSmallestDifference = 0.005;

/// Measured accounts are scaled from the mean step to the typical one, which is what is predicted.
TraceDifference compare_trace(const TraceSummary& measured, const Prediction& prediction,
                              const PredictionPoint& point);

}  // namespace foretrain

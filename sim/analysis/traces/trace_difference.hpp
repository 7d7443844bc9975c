// A recorded step beside its prediction: account by account, with likely reasons for the largest differences.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/traces/trace_summary.hpp"

namespace foretrain {

/// An account of both steps; the rows after the first sum to it.
struct ComparedAccount {
  /// Key: "step", "compute", "exposed_communication", "host", "input_stall", "optimizer" or "other".
  std::string key;
  /// Name for readers.
  std::string what;
  double measured_s = 0, predicted_s = 0;
  double difference_s() const { return measured_s - predicted_s; }
};

/// A difference in words.
struct NamedDifference {
  std::string key, text;
  /// Measured minus predicted seconds.
  double seconds = 0;
};

/// A recorded step beside its prediction, account by account.
struct TraceDifference {
  std::string file, model, cluster, strategy;
  int gpus = 1;
  std::int64_t batch_per_gpu = 0;
  /// Slowdown of the host by the profiler, which the prediction includes; 0 where it uses the cluster's own
  /// host.
  double recording_slowdown = 0;
  std::vector<ComparedAccount> accounts;
  /// The largest differences in descending order, at most kNamedDifferences.
  std::vector<NamedDifference> largest;
  std::vector<std::int64_t> measured_buckets, predicted_buckets;
  std::vector<std::string> notes;
  /// Returns predicted / measured - 1 of the step; 0 without a measured step.
  double error() const;
};

/// Most differences that are explained.
inline constexpr std::size_t kNamedDifferences = 3;
/// Share of the measured step below which a difference is not explained.
inline constexpr double kSmallestDifference = 0.005;

/// Compares both. Measured accounts are scaled from the mean step to the typical (median) one, which is what
/// a prediction describes.
TraceDifference compare_trace(const TraceSummary& measured, const Prediction& prediction,
                              const PredictionPoint& point);

}  // namespace foretrain

// Cross-validation: each cluster, GPU or source in turn is held out, the constants are fitted again to the
// rest, and its rows are scored. The errors show what predictions are worth where nothing was fitted.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/fit/refit.hpp"
#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

/// The unit whose rows are held out together.
enum class HoldOutUnit : std::uint8_t { cluster, gpu, source };
inline constexpr std::array<std::string_view, 3> kLeftOutNames{"cluster", "gpu", "source"};

/// Returns the repository, paper or page that a source names first; rows of one publication err together.
std::string publication_of(const std::string& source);

/// Scores of the same rows with three sets of constants: those in use, those fitted to all rows, and those
/// fitted without the rows' own unit.
struct HeldOutScores {
  int rows = 0, large_rows = 0;
  ErrorStatistics in_use, of_all, left_out;
  /// Errors of collectives from kLargeMessage on.
  ErrorStatistics large_in_use, large_left_out;
  /// Errors of perfect scaling from the anchor; only trainings have them.
  ErrorStatistics linear;
  /// Share of the rows in the 90 % interval of a machine without measurements, around the held-out
  /// prediction, and the median width relative to the prediction.
  double coverage = 0, width = 0;
};

/// The rows of one cluster, GPU or source, scored with constants that were fitted without them.
struct HeldOutGroup {
  std::string name;
  HeldOutScores scores;
};

/// A cross-validation: every group is scored with constants that were fitted without it.
struct LeaveOneOut {
  HoldOutUnit by = HoldOutUnit::cluster;
  /// "collective", "scaling" or "one GPU".
  std::string kind;
  /// Number of constants that are fitted again.
  int constants = 0;
  /// Rows that cannot be predicted.
  int unscored = 0;
  HeldOutScores all;
  /// Groups in descending order of the median error.
  std::vector<HeldOutGroup> groups;
  /// The same rows by operation, kind of board, strategy, or strategy and cluster.
  std::vector<HeldOutGroup> views;
  /// The same rows by path of messages, or by kind of network.
  std::vector<HeldOutGroup> classes;
};

/// Cross-validates the constants of collectives and of the links' files. Each group is predicted again with
/// the constants of its refit.
LeaveOneOut leave_one_out(const std::vector<CollectiveMeasurement>& rows, HoldOutUnit by,
                          const std::vector<std::string>& settings, const Progress& progress = nullptr);

/// Cross-validates trainings: the losses if options.anchor is set, else the kernels' constants. Predictions
/// are taken as straight lines in the constants, so the groups need no simulation of their own.
LeaveOneOut leave_one_out(const MeasurementFile& file, HoldOutUnit by, const ValidationOptions& options,
                          const Progress& progress = nullptr);

// Parts of the cross-validation, for tests.

/// A constant of the model, and how a cluster has it.
struct TrialConstant {
  /// Its name without the link's; values of one family are each other's neighbours.
  std::string family;
  /// Returns whose constant it is: clusters of one group with one value share it, and the group's other
  /// values are its nearest neighbours. The group of a link's constant is its technology ("slingshot").
  std::string (*group)(const ClusterSpec& cluster);
  /// Returns its name on the cluster; empty where the cluster has no such constant.
  std::string (*name)(const ClusterSpec& cluster, const std::string& family);
  /// Returns its value on the cluster.
  double (*value)(const ClusterSpec& cluster, const std::string& family);
  /// 0 for a constant that is fitted as its logarithm; else the step of one that may be 0.
  double step = 0;
  ConstantRange range;
};
/// Returns the constants of collectives and of links that were fitted to collectives.
std::vector<TrialConstant> collective_trials();
/// Returns the losses that were fitted to trainings.
std::vector<TrialConstant> loss_trials();
/// Returns the constants of kernels.
std::vector<TrialConstant> kernel_trials();

/// Returns the machine that is held out with a cluster; it comprises all clusters of that machine, whatever
/// their settings.
inline const std::string& machine_of(const ClusterSpec& cluster) {
  return cluster.machine.empty() ? cluster.name : cluster.machine;
}

/// Returns the cluster with the constant moved by `x`, which is a logarithm or a number of steps.
ClusterSpec moved(ClusterSpec cluster, const TrialConstant& constant, double x);

}  // namespace foretrain

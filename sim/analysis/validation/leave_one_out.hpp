// What predictions are worth where nothing was fitted: each cluster, GPU or source in turn is left out, the
// constants are fitted again to the rest, and its rows are scored.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/fit/refit.hpp"
#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

/// What rows are left out together by.
enum class HoldOutUnit : std::uint8_t { cluster, gpu, source };
inline constexpr std::array<std::string_view, 3> kLeftOutNames{"cluster", "gpu", "source"};

/// The repository, paper or page that a source names first: what rows that err together have in common.
std::string publication_of(const std::string& source);

/// Scores of the same rows: with the constants in use, with those fitted to all rows, and without theirs.
struct HeldOutScores {
  int rows = 0, large_rows = 0;
  ErrorStatistics in_use, of_all, left_out;
  ErrorStatistics large_in_use, large_left_out;  ///< collectives from kLargeMessage on
  ErrorStatistics linear;                        ///< of perfect scaling from the anchor, which trainings have
  /// Share of the rows in the 90 % interval of a machine that nobody measured, around the left-out
  /// prediction, and the median of its width over what is predicted.
  double coverage = 0, width = 0;
};

/// The rows of one cluster, GPU or source, scored with constants that were fitted without them.
struct HeldOutGroup {
  std::string name;
  HeldOutScores scores;
};

/// Cross-validation of collectives: every group is scored with constants that were fitted without it.
struct LeaveOneOut {
  HoldOutUnit by = HoldOutUnit::cluster;
  std::string kind;   ///< "collective", "scaling", "one GPU"
  int constants = 0;  ///< that are fitted again
  int unscored = 0;   ///< rows that cannot be predicted
  HeldOutScores all;
  std::vector<HeldOutGroup> groups;   ///< worst median first
  std::vector<HeldOutGroup> views;    ///< by operation, kind of board, strategy, strategy and cluster
  std::vector<HeldOutGroup> classes;  ///< by what messages move over, or by the kind of network
};

/// Constants of collectives and of the links' files. The predictions of a group are made anew with what its
/// refit gives.
LeaveOneOut leave_one_out(const std::vector<CollectiveMeasurement>& rows, HoldOutUnit by,
                          const std::vector<std::string>& settings, const Progress& progress = nullptr);

/// With anchors the losses, without them the kernels' constants. Predictions follow the constants on straight
/// lines.
LeaveOneOut leave_one_out(const MeasurementFile& file, HoldOutUnit by, const ValidationOptions& options,
                          const Progress& progress = nullptr);

// The parts, for tests.

/// One of the model's constants as it stands on a cluster; `name` is empty where the cluster has none such.
struct TrialConstant {
  std::string family;  ///< its name without the link's: values of one family are each other's neighbours
  /// Whose constant it is: clusters of one group with one value share it, and its other values are the
  /// nearest neighbours. A link's: all of its technology ("slingshot").
  std::string (*group)(const ClusterSpec& cluster);
  std::string (*name)(const ClusterSpec& cluster, const std::string& family);
  double (*value)(const ClusterSpec& cluster, const std::string& family);
  double step = 0;  ///< 0: fitted as its logarithm; else in such steps, for what may be 0
  ConstantRange range;
};
std::vector<TrialConstant> collective_trials();
std::vector<TrialConstant> loss_trials();
std::vector<TrialConstant> kernel_trials();

/// What is left out with a cluster: all of its settings.
inline const std::string& machine_of(const ClusterSpec& cluster) {
  return cluster.machine.empty() ? cluster.name : cluster.machine;
}

/// The cluster with the constant moved by x.
ClusterSpec moved(ClusterSpec cluster, const TrialConstant& constant, double x);

}  // namespace foretrain

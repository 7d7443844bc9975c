// The refit behind leave_one_out(): which rows share which value of a constant, and what other rows say of
// it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "sim/analysis/validation/leave_one_out.hpp"

namespace foretrain {

/// A row as the refit sees it.
struct HeldOutRow {
  /// The unit that the row is held out with.
  std::string key;
  const ClusterSpec* cluster = nullptr;
  /// log(predicted / measured).
  double residual = 0;
  /// Line of the file, by which a trial's residuals find the row.
  int line = 0;
};

/// Returns the residuals of a trial, given by line, in the order of `rows`. A row that the trial could not
/// predict keeps its own residual, so the constant has no slope there.
std::vector<double> trial_residuals(const std::vector<HeldOutRow>& rows,
                                    const std::map<int, double>& by_line);

/// Returns log(predicted / measured) of every row with every cluster changed by `change`; a call predicts all
/// rows.
using ResidualsWith =
    std::function<std::vector<double>(const std::function<ClusterSpec(ClusterSpec)>& change)>;

/// Constants by the value that rows share, with the slopes of all rows. The constructor predicts all rows
/// once for each trial constant; later fits use straight lines and need no simulation.
class HeldOutFit {
 public:
  HeldOutFit(std::vector<HeldOutRow> rows, std::vector<TrialConstant> trials, const ResidualsWith& residuals,
             const Progress& progress);

  /// Returns the number of shared constants.
  int constants() const { return static_cast<int>(problem_.constants.size()); }
  /// Returns the constants fitted to all rows, as distances from the values in use.
  std::vector<double> of_all() const;
  /// Returns the constants fitted to the rows of all other keys.
  std::vector<double> without(const std::string& key) const;
  /// Returns the residual of a row after the constants have moved by `x`.
  double residual(std::size_t row, const std::vector<double>& x) const {
    return residual_at(problem_, row, x);
  }
  /// Returns the cluster with the constants that it shares moved by `x`.
  ClusterSpec with(ClusterSpec cluster, const std::vector<double>& x) const;

 private:
  /// A constant and the value in use that its rows share.
  struct Shared {
    std::size_t trial;
    std::string group;
    double value;
  };
  /// Returns the index of the constant that the cluster shares, a new one if none has its value; the number
  /// of constants where the cluster has no such constant.
  std::size_t shared_of(std::size_t trial, const ClusterSpec& cluster);
  /// Adds the slopes of all rows by one trial constant, from residuals with the constant moved up.
  void add_slopes(std::size_t trial, const std::vector<double>& up);
  /// Returns the distances to the other values of the same family.
  std::vector<double> neighbours_of(std::size_t shared) const;
  /// Sets expectation, spread and range of every constant.
  void add_priors();

  std::vector<HeldOutRow> rows_;
  std::vector<TrialConstant> trials_;
  std::vector<Shared> shared_;
  RefitProblem problem_;
};

}  // namespace foretrain

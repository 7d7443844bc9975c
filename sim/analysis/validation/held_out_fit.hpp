// The refit behind leave_one_out(): which rows share which value of a constant, and what the others say of
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
  std::string key;  ///< what it is left out with
  const ClusterSpec* cluster = nullptr;
  double residual = 0;  ///< log(predicted / measured)
};

/// log(predicted / measured) of every row with every cluster changed.
using ResidualsWith =
    std::function<std::vector<double>(const std::function<ClusterSpec(ClusterSpec)>& change)>;

/// Constants by the value that rows share, with the slopes of all rows.
class HeldOutFit {
 public:
  HeldOutFit(std::vector<HeldOutRow> rows, std::vector<TrialConstant> trials, const ResidualsWith& residuals,
             const Progress& progress);

  int constants() const { return static_cast<int>(problem_.constants.size()); }
  std::vector<double> of_all() const;
  std::vector<double> without(const std::string& key) const;
  double residual(std::size_t row, const std::vector<double>& x) const {
    return residual_at(problem_, row, x);
  }
  /// The cluster with the constants that it shares moved by `x`.
  ClusterSpec with(ClusterSpec cluster, const std::vector<double>& x) const;

 private:
  /// The constant and the value in use that its rows share.
  struct Shared {
    std::size_t trial;
    std::string group;
    double value;
  };
  std::size_t shared_of(std::size_t trial, const ClusterSpec& cluster);
  void add_slopes(std::size_t trial, const std::vector<double>& up);
  std::vector<double> neighbours_of(std::size_t shared) const;
  void add_priors();

  std::vector<HeldOutRow> rows_;
  std::vector<TrialConstant> trials_;
  std::vector<Shared> shared_;
  RefitProblem problem_;
};

}  // namespace foretrain

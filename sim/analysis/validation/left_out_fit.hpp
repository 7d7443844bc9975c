// The refit behind leave_one_out(): which rows share which value of a constant, and what the others say of
// it.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <map>
#include <vector>

#include "sim/analysis/validation/leave_one_out.hpp"

namespace foretrain {

/// A row as the refit sees it.
struct LeftOutRow {
  std::string key;  ///< what it is left out with
  const ClusterSpec* cluster = nullptr;
  double residual = 0;  ///< log(predicted / measured)
};

/// log(predicted / measured) of every row with every cluster changed.
using ResidualsWith =
    std::function<std::vector<double>(const std::function<ClusterSpec(ClusterSpec)>& change)>;

/// Constants by the value that rows share, with the slopes of all rows.
class LeftOutFit {
 public:
  LeftOutFit(std::vector<LeftOutRow> rows, std::vector<TrialConstant> trials, const ResidualsWith& residuals,
             const Progress& progress);

  int constants() const { return static_cast<int>(problem_.constants.size()); }
  void dump(FILE* f, const std::string& key) const { const auto x = without(key); const auto a = of_all(); for (std::size_t i = 0; i < shared_.size(); ++i) { std::map<std::string, double> n; std::map<std::string, double> pull; for (std::size_t r = 0; r < rows_.size(); ++r) { n[rows_[r].key] += std::abs(problem_.constants[i].slope[r]); pull[rows_[r].key] += problem_.constants[i].slope[r] * rows_[r].residual; } if (n[key] > 0.01) { fprintf(f, "%-32s value %.4g x %.3f all %.3f centre %.3f weight %.2f |", problem_.constants[i].name.c_str(), shared_[i].value, x[i], a[i], problem_.constants[i].centre, n[key]); for (auto& [k, v] : n) if (v > 0.3) fprintf(f, " %s %.1f/%.2f", k.c_str(), v, pull[k] / v); fprintf(f, "\n"); } } }
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

  std::vector<LeftOutRow> rows_;
  std::vector<TrialConstant> trials_;
  std::vector<Shared> shared_;
  RefitProblem problem_;
};

}  // namespace foretrain

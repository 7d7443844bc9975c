// Shared constants fitted again to some of the rows: what a model is worth where its rows were never seen.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// A constant that many rows share, and how their predictions follow it. `x` is its distance from the value
/// in use: of the logarithm, or in steps of a constant that may be 0.
struct SharedConstant {
  std::string name;
  double centre = 0;            ///< what is expected of it without a row, as x
  double prior = 1;             ///< standard deviation of that
  double least = -5, most = 5;  ///< of x
  bool is_stepped = false;      ///< x counts steps
  std::vector<double> slope{};  ///< by row: d log(prediction) / dx
};

/// Predictions as straight lines in every x, so that a fit without some rows needs no simulation.
struct RefitProblem {
  std::vector<double> residuals;  ///< log(predicted / measured) with the constants in use
  std::vector<SharedConstant> constants;
};

/// What the rows with `is_seen` say of each constant: robust, around the centres. A constant that none of
/// them follows goes to its centre.
std::vector<double> refitted(const RefitProblem& problem, const std::vector<bool>& is_seen);

/// log(predicted / measured) of a row once the constants have moved by `x`.
double residual_at(const RefitProblem& problem, std::size_t row, const std::vector<double>& x);

}  // namespace foretrain

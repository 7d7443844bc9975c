// Shared constants fitted again to a part of the rows, to score a model on rows that it has never seen.
#pragma once

#include <string>
#include <vector>

namespace foretrain {

/// A constant that many rows share, and how their predictions follow it. `x` is its distance from the value
/// in use: of the logarithm, or in steps for a constant that may be 0.
struct SharedConstant {
  std::string name;
  /// Expected x without any row.
  double centre = 0;
  /// Standard deviation of that expectation.
  double prior = 1;
  /// Range of x.
  double least = -5, most = 5;
  /// True if x counts steps.
  bool is_stepped = false;
  /// d log(prediction) / dx by row.
  std::vector<double> slope{};
};

/// Predictions as straight lines in every x, so that a fit without some rows needs no simulation.
struct RefitProblem {
  /// log(predicted / measured) by row, with the constants in use.
  std::vector<double> residuals;
  std::vector<SharedConstant> constants;
};

/// Returns x of each constant, fitted robustly to the rows with `is_seen`, around the centres. A constant
/// that none of them follows goes to its centre.
std::vector<double> refitted(const RefitProblem& problem, const std::vector<bool>& is_seen);

/// Returns log(predicted / measured) of a row after the constants have moved by `x`.
double residual_at(const RefitProblem& problem, std::size_t row, const std::vector<double>& x);

}  // namespace foretrain

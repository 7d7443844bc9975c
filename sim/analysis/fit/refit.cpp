// The general fit of constants, applied to straight lines: its positive parameters are exp(x).
#include "sim/analysis/fit/refit.hpp"

#include <algorithm>
#include <cmath>

#include "calibrate/fit/least_squares.hpp"

namespace foretrain {

namespace {

/// Largest absolute residual: rows off by more than a factor of 150 count as that, because a fit needs finite
/// numbers.
constexpr double kFurthest = 5;
/// Smallest slope with which a row follows a constant.
constexpr double kFollows = 1e-3;

/// Smallest ratio to which moved constants can shorten a prediction.
constexpr double kLeastRatio = 0.01;

/// Returns the added share of a time. A constant that makes the share s of a time adds s (exp(x) - 1) to it;
/// a rate, whose time is its inverse, does so with -x.
double added_share(const SharedConstant& constant, double slope, double x) {
  if (constant.is_stepped) return slope * x;
  return slope >= 0 ? slope * std::expm1(x) : -slope * std::expm1(-x);
}

/// Returns true if any of the rows follows the constant.
bool is_followed(const SharedConstant& constant, const std::vector<std::size_t>& rows) {
  return std::ranges::any_of(rows, [&](std::size_t row) { return std::abs(constant.slope[row]) > kFollows; });
}

/// Builds the problem of the free constants; measured values are 1, so that predictions are ratios.
fit::Problem problem_over(const RefitProblem& problem, const std::vector<std::size_t>& rows,
                          const std::vector<std::size_t>& free, const std::vector<double>& centres) {
  fit::Problem out;
  for (const std::size_t i : free) {
    const SharedConstant& c = problem.constants[i];
    out.parameters.push_back({c.name, std::exp(std::clamp(c.centre, c.least, c.most)), std::exp(c.least),
                              std::exp(c.most), c.prior});
  }
  out.measured.assign(rows.size(), 1);
  out.predict = [&problem, &rows, &free, x = centres](const std::vector<double>& values) mutable {
    for (std::size_t i = 0; i < free.size(); ++i) x[free[i]] = std::log(values[i]);
    std::vector<double> predicted;
    for (const std::size_t row : rows)
      predicted.push_back(std::exp(std::clamp(residual_at(problem, row, x), -kFurthest, kFurthest)));
    return predicted;
  };
  return out;
}

}  // namespace

double residual_at(const RefitProblem& problem, std::size_t row, const std::vector<double>& x) {
  double longer = 1;
  for (std::size_t i = 0; i < problem.constants.size(); ++i)
    longer += added_share(problem.constants[i], problem.constants[i].slope[row], x[i]);
  return problem.residuals[row] + std::log(std::max(kLeastRatio, longer));
}

std::vector<double> refitted(const RefitProblem& problem, const std::vector<bool>& is_seen) {
  std::vector<std::size_t> rows, free;
  for (std::size_t row = 0; row < problem.residuals.size(); ++row)
    if (is_seen[row]) rows.push_back(row);
  std::vector<double> x;
  for (std::size_t i = 0; i < problem.constants.size(); ++i) {
    const SharedConstant& c = problem.constants[i];
    x.push_back(std::clamp(c.centre, c.least, c.most));
    if (is_followed(c, rows)) free.push_back(i);
  }
  // The centres are the answer without a free constant the centres are the answer.
  if (free.empty()) return x;
  const fit::Fit fitted = fit::fit(problem_over(problem, rows, free, x));
  for (std::size_t i = 0; i < free.size(); ++i) x[free[i]] = std::log(fitted.parameters[i].value);
  return x;
}

}  // namespace foretrain

// The general fit, over straight lines: its parameters are exp(x).
#include "sim/analysis/fit/refit.hpp"

#include <algorithm>
#include <cmath>

#include "calibrate/fit/least_squares.hpp"

namespace foretrain {

namespace {

/// Rows further off than a factor of 150 count as that: a fit needs finite numbers.
constexpr double kFurthest = 5;
/// A row follows a constant.
constexpr double kFollows = 1e-3;

/// No fit makes a prediction shorter than this part of it.
constexpr double kShortestTime = 0.01;

/// A time is a sum: of a constant that makes the share s of it, x adds s (exp(x) - 1); of a rate, whose time
/// is its inverse, likewise with -x.
double added_share(const SharedConstant& constant, double slope, double x) {
  if (constant.is_stepped) return slope * x;
  return slope >= 0 ? slope * std::expm1(x) : -slope * std::expm1(-x);
}

bool is_followed(const SharedConstant& constant, const std::vector<std::size_t>& rows) {
  return std::ranges::any_of(rows, [&](std::size_t row) { return std::abs(constant.slope[row]) > kFollows; });
}

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
  return problem.residuals[row] + std::log(std::max(kShortestTime, longer));
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
  if (free.empty()) return x;
  const fit::Fit fitted = fit::fit(problem_over(problem, rows, free, x));
  for (std::size_t i = 0; i < free.size(); ++i) x[free[i]] = std::log(fitted.parameters[i].value);
  return x;
}

}  // namespace foretrain

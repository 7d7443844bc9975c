// What values at known places say of another place: kriging with groups that share a bias, robust against
// single values and whole groups that are far off.
#pragma once

#include <cstddef>
#include <vector>

namespace foretrain::fit {

/// Variances are of the prior: a zero mean, and how far values may be from it.
struct FieldProblem {
  std::vector<double> values;       ///< n of them
  std::vector<double> covariance;   ///< n x n, row by row, without noise and without biases
  std::vector<double> across;       ///< between the place asked for and each value
  double own = 0;                   ///< variance at the place asked for
  std::vector<double> noise;        ///< of each value by itself; more than 0
  double bias = 0;                  ///< variance of what all values of a group have in common
  std::vector<std::size_t> groups;  ///< of each value, 0, 1, …
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::size_t own_group = kNone;  ///< whose bias the place asked for shares
};

struct FieldAnswer {
  double mean = 0;
  double variance = 0;          ///< of the field at the place, without noise and the bias of another group
  std::vector<double> weights;  ///< of each value in the mean
  std::vector<double> trust;    ///< in (0, 1]: how far each value was believed
};

/// Values scatter as Student's t around the field, and so do the biases of groups. The prior alone without
/// values.
FieldAnswer krige(const FieldProblem& problem);

}  // namespace foretrain::fit

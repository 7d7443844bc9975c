// The value of a field of residuals: its own rows are predicted raw and corrected, each without the rows that
// could know it.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/evidence/residual_field.hpp"
#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

/// The rows that a question is asked without. source: those of the row's publication. cluster: those of its
/// machine, but not of its source's other machines, as a question of the source itself. series: those of the
/// row's series, and rows with the same time, which are the same measurement.
enum class ResidualHoldOut : std::uint8_t { source, cluster, series };
inline constexpr std::array<std::string_view, 3> kFieldLeftOutNames{"source", "cluster", "series"};

/// Errors of predictions with and without evidence, on one group of rows.
struct FieldScore {
  std::string name;
  int rows = 0;
  ErrorStatistics raw, corrected;
  /// Share of rows within the 90 % interval of the field's own spread.
  double held = 0;
  /// Median of the remaining share of the uncertainty.
  double narrowing = 1;
  /// Rows that the field corrects.
  int reached = 0;
};

/// Returns the scores of all rows of one kind, then of those that runs of the very training correct, then by
/// source or machine, most rows first. Collectives have two further groups: messages of at least
/// kLargeMessage, and smaller ones. Each row is a query of the field.
std::vector<FieldScore> score_field(const ResidualField& field, Observed what, ResidualHoldOut left_out);

/// The knowledge of a machine's steps after its user has recorded some jobs.
struct LearningStep {
  int jobs = 0;
  ErrorStatistics error;
  /// Median of the upper half of the 90 % interval, as a share of the step.
  double half_width = 0;
  /// Median of the remaining share of the uncertainty.
  double narrowing = 1;
  /// Share of the later jobs within the 90 % interval.
  double held = 0;
};

/// A job as it was expected when only earlier ones were known; logarithms of measured over simulated time.
struct LearnedRun {
  double measured = 0;
  /// The 90 % interval is expected - reach to expected + reach.
  double expected = 0, reach = 0;
};

/// The improvement of predictions as a site records more of its jobs.
struct Learning {
  /// Steps, as many as there are runs for.
  std::vector<LearningStep> steps;
  /// Jobs in one of the orders.
  std::vector<LearnedRun> jobs;
};

/// Adds the machine's one-GPU runs one by one as its user's own, in several random orders. What was published
/// about them, and what their publication says about other machines, counts as unknown. `known` holds the
/// numbers of jobs to score after, ascending.
Learning learn_machine(const ResidualField& field, const std::string& cluster, const std::vector<int>& known);

}  // namespace foretrain

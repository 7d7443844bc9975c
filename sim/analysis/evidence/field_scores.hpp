// What a field is worth: its own rows predicted raw and corrected, each without those that could know it.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/evidence/residual_field.hpp"
#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

/// source: without the row's publication. cluster: without its machine, but with its source's other machines,
/// as a question of the source itself. series: likewise without the row's series alone, and rows of the same
/// time, which are the same measurement.
enum class ResidualHoldOut : std::uint8_t { source, cluster, series };
inline constexpr std::array<std::string_view, 3> kFieldLeftOutNames{"source", "cluster", "series"};

/// Errors of predictions with and without evidence, on rows whose own source was held out.
struct FieldScore {
  std::string name;
  int rows = 0;
  ErrorStatistics raw, corrected;
  double held = 0;       ///< share of rows within 90 % of the field's own spread
  double narrowing = 1;  ///< median part of the uncertainty that is left
  int reached = 0;       ///< rows that the field says something about
};

/// All rows of one kind first, then those that runs of the very training correct, then by source or machine,
/// most rows first. Of collectives also those of at least, and of less than, kLargeMessage.
std::vector<FieldScore> score_field(const ResidualField& field, Observed what, ResidualHoldOut left_out);

/// How well the steps of a machine are known to its user after so many jobs of theirs.
struct LearningStep {
  int jobs = 0;
  ErrorStatistics error;
  double half_width = 0;  ///< median of the 90 % interval's upper half, as part of the step
  double narrowing = 1;   ///< median part of the uncertainty that is left
  double held = 0;        ///< share of the jobs to come within 90 % of the field's spread
};

/// A job as it was expected when only those before it were known: logarithms of measured over simulated.
struct LearnedRun {
  double measured = 0;
  double expected = 0, reach = 0;  ///< 90 %: expected - reach to expected + reach
};

/// How predictions improve as a site records more of its jobs.
struct Learning {
  std::vector<LearningStep> steps;  ///< as many as there are runs for
  std::vector<LearnedRun> jobs;     ///< in one of the orders
};

/// The machine's runs of one GPU one by one as its user's own, in several orders; what was published of them,
/// and what their publication says of other machines, is unknown. `known`: after so many jobs, ascending.
Learning learn_machine(const ResidualField& field, const std::string& cluster, const std::vector<int>& known);

}  // namespace foretrain

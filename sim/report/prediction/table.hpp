// The tables of a prediction for people.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/advice/recommendation.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/search/compare.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

/// Returns every table behind the verdict.
std::string write_table(const Prediction& prediction, const ReportOptions& options);
/// Returns what was asked for besides the answer: sensitivity, break-even values, decisions.
std::string further_tables(const Prediction& prediction, const ReportOptions& options);

/// Returns the value with so many decimals; "-" when it is unknown.
std::string or_dash(const std::optional<double>& value, int decimals);
/// Returns a duration as people plan with it, such as "3 h 25 min" or "41.2 s".
std::string spoken_time(double seconds);

// Uncertainty as text: intervals by number of GPUs, and the inputs that cause them.

/// Returns a heading and a line for each point: 90 % intervals of step, total and speedup, and the
/// probability that it is faster than one GPU.
std::string write_intervals(const Prediction& prediction);
/// Returns the memory of the last point by class of tensors; empty when it has no ledger.
std::string write_memory_ledger(const Prediction& prediction);

/// Returns a bar for each uncertain input, largest first, and which measurements would narrow the interval.
std::string write_sensitivity(const Sensitivity& sensitivity);

// The recommended job as text.

/// Returns the costs of ranks that are not alike.
std::string write_mixing(const Mixing& mixing);
/// Returns the verdict about them as a sentence.
std::string spoken_verdict(const Mixing& mixing);
/// Returns what to request and for how long, the job and its runners-up in one table, and notes.
std::string write_recommendation(const Recommendation& recommendation);
/// A line of the short form of a recommendation: what to write into the job script, or what another job
/// trades.
struct RequestLine {
  std::string_view label;
  std::string text;
};
/// Returns the short form; empty when no job can be recommended.
std::vector<RequestLine> request_lines(const Recommendation& recommendation);

// Several scenarios below each other, with a closing table.

/// Returns each prediction as if it were alone, and then one line for each scenario, on the largest number of
/// GPUs that all of them list, or else on the largest number of each.
std::string write_predictions_table(const std::vector<Prediction>& predictions, const ReportOptions& options);
/// Returns comparisons in the same way.
std::string write_comparisons_table(const std::vector<Comparison>& comparisons, const ReportOptions& options);

// Weak and strong scaling of one scenario in one report. Each format does so in its own way.

/// Returns both answers, and a line that compares them.
std::string write_both_scalings_table(const Prediction& weak, const Prediction& strong,
                                      const ReportOptions& options);
/// Returns foretrain.predictions/1 with weak scaling first.
std::string write_both_scalings_json(const Prediction& weak, const Prediction& strong,
                                     const ReportOptions& options);
/// Returns one header and the rows of both.
std::string write_both_scalings_csv(const Prediction& weak, const Prediction& strong,
                                    const ReportOptions& options);

}  // namespace foretrain

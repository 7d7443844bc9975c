// The scaling table for people.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/advice/recommendation.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/analysis/search/compare.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

/// Every table, after the verdict.
std::string write_table(const Prediction& prediction, const ReportOptions& options);
/// What was asked for besides the answer: sensitivity, break-even, decisions.
std::string further_tables(const Prediction& prediction, const ReportOptions& options);

/// With so many decimals; "-" where it is not known.
std::string or_dash(const std::optional<double>& value, int decimals);
/// "3 h 25 min", "41.2 s": durations people plan with.
std::string spoken_time(double seconds);

// How sure, as text: intervals by number of GPUs, and which inputs they come from.

/// A heading and a line for each point: 90 % intervals of step, total and speedup, the chance that it is
/// faster than one GPU.
std::string write_intervals(const Prediction& prediction);
/// Of the last point; empty where it has no ledger.
std::string write_memory_ledger(const Prediction& prediction);

/// The tornado: a bar for each input, largest first, and what to measure.
std::string write_sensitivity(const Sensitivity& sensitivity);

// The recommended job as text.

/// What to ask for and how long, then it and its runners-up in one table, then notes.
/// What it costs that ranks are not alike.
std::string write_mixing(const Mixing& mixing);
/// Its verdict as a sentence.
std::string spoken_verdict(const Mixing& mixing);
std::string write_recommendation(const Recommendation& recommendation);
/// The same in short: what to write into the job script, what a smaller and a larger job trade.
struct RequestLine {
  std::string_view label;
  std::string text;
};
std::vector<RequestLine> request_lines(const Recommendation& recommendation);

// Predictions or comparisons of several scenarios below each other, and what they come to.

/// Each as by itself; then one line per scenario, on the largest number of GPUs that all list, or else on the
/// largest of each.
std::string write_predictions_table(const std::vector<Prediction>& predictions, const ReportOptions& options);
std::string write_comparisons_table(const std::vector<Comparison>& comparisons, const ReportOptions& options);

// Weak and strong scaling of one scenario in one report, each format in its own way.

/// The tables one below the other with a line that compares them.
std::string write_both_scalings_table(const Prediction& weak, const Prediction& strong,
                                      const ReportOptions& options);
/// foretrain.predictions/1.
std::string write_both_scalings_json(const Prediction& weak, const Prediction& strong,
                                     const ReportOptions& options);
/// One header, the rows of both.
std::string write_both_scalings_csv(const Prediction& weak, const Prediction& strong,
                                    const ReportOptions& options);

}  // namespace foretrain

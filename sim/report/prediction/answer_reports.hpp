// The answer to a prediction's question, as text for a terminal.
#pragma once

#include <string>

#include "sim/analysis/prediction.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

/// The verdict, its table, then one labelled line each for cause, action, assumptions and evidence: at most
/// kAnswerLines lines of kAnswerColumns columns.
std::string write_answer(const Prediction& prediction);
inline constexpr std::size_t kAnswerColumns = 100, kAnswerLines = 24;

/// The answer, or with options.details every table; then what options ask for besides.
std::string write_answer_or_table(const Prediction& prediction, const ReportOptions& options);

/// The same below a line that says whose answer it is, for several of them.
std::string write_named_answer(const Prediction& prediction, const ReportOptions& options);

}  // namespace foretrain

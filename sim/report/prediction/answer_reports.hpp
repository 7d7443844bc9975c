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

// Parts of it for doors that have a table of their own (answer_lines.cpp).

/// Verdict, cause and action, then what was asked and assumed and what is not modelled or not credible.
std::string write_answer_lines(const Answer& answer);
/// The first half of these, and the second.
std::string answer_head(const Answer& answer);
std::string answer_basis(const Answer& answer);
/// What narrows the interval, and where no measured job stands behind it.
std::string answer_how_sure(const Answer& answer);
/// Everything assumed, then the options that state it.
std::string assumed_words(const Answer& answer);
/// `text` filled to kAnswerColumns columns beside a label; empty for an empty text.
std::string labelled(std::string_view label, std::string_view text);
std::string paragraph(const std::string& text);

}  // namespace foretrain

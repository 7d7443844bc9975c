// The answer to a prediction's question as text for a terminal.
#pragma once

#include <string>

#include "sim/analysis/prediction.hpp"
#include "sim/report/catalog.hpp"

namespace foretrain {

/// Returns the verdict, its table, and one labelled line each for cause, action, assumptions and evidence.
/// The text has at most kAnswerLines lines of kAnswerColumns characters.
std::string write_answer(const Prediction& prediction);
/// Largest width and height of the answer in characters and lines.
inline constexpr std::size_t kAnswerColumns = 100, kAnswerLines = 24;

/// Returns the answer, or with options.details every table; then what the options ask for besides.
std::string write_answer_or_table(const Prediction& prediction, const ReportOptions& options);

/// Returns the same below a line that names scenario and question, for one of several answers.
std::string write_named_answer(const Prediction& prediction, const ReportOptions& options);

// Parts of the answer for outputs that have a table of their own (answer_lines.cpp).

/// Returns verdict, cause and action, followed by question, assumptions, and what is not modelled or not
/// credible.
std::string write_answer_lines(const Answer& answer);
/// Return the first and the second half of these lines.
std::string answer_head(const Answer& answer);
std::string answer_basis(const Answer& answer);
/// Returns what would narrow the interval, and where no comparable run was measured.
std::string answer_how_sure(const Answer& answer);
/// Returns all assumptions, followed by the options that state them.
std::string assumed_words(const Answer& answer);
/// Returns `text` behind a label, wrapped at kAnswerColumns; empty for an empty text.
std::string labelled(std::string_view label, std::string_view text);
/// Returns the text wrapped at kAnswerColumns.
std::string paragraph(const std::string& text);

}  // namespace foretrain

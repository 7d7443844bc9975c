// Writes the parts of an answer that every output shares: one labelled line for each, wrapped to a common
// width.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/spoken.hpp"
#include "sim/report/prediction/answer_reports.hpp"

namespace foretrain {

namespace {

// Width of the labels.
constexpr std::size_t kLabelColumns = 14;

/// Returns `text` behind `first`, wrapped at kAnswerColumns. All lines but the first are indented.
std::string filled(std::string first, std::string_view text, std::size_t indent) {
  std::string out = std::move(first);
  std::size_t column = indent;
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \n"), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(text.size(), end + 1));
    if (!is_first && column + 1 + word.size() > kAnswerColumns) {
      out += "\n" + std::string(indent, ' ');
      column = indent, is_first = true;
    }
    if (!is_first) out += ' ';
    out += word;
    column += word.size() + (is_first ? 0 : 1), is_first = false;
  }
  return out + "\n";
}

}  // namespace

std::string labelled(std::string_view label, std::string_view text) {
  return text.empty() ? "" : filled(fmt::format("{:<{}}", label, kLabelColumns), text, kLabelColumns);
}

std::string paragraph(const std::string& text) { return filled("", text, 0); }

// Assumptions and options are in the same order, so a reader can match them.
std::string assumed_words(const Answer& answer) {
  std::string texts, options;
  for (const Assumption& assumption : answer.assumptions) {
    texts += (texts.empty() ? "" : ", ") + assumption.text;
    options += (options.empty() ? "" : ", ") + assumption.option;
  }
  return texts.empty() ? "" : fmt::format("{} ({})", texts, options);
}

// Only the first line has the label.
std::string answer_how_sure(const Answer& answer) {
  std::string out =
      labelled("How sure", answer.next_measurement.empty() ? "" : capitalized(answer.next_measurement) + ".");
  for (const std::string& beyond : answer.extrapolated)
    out += labelled(out.empty() ? "How sure" : "", capitalized(beyond) + ".");
  return out;
}

// The first setting that is not understood stands in the verdict already.
std::string answer_basis(const Answer& answer) {
  std::string out;
  for (std::size_t i = 1; i < answer.not_understood.size(); ++i)
    out += labelled("Not modelled", answer.not_understood[i]);
  for (const std::string& sentence : answer.not_credible) out += labelled("Not credible", sentence);
  if (!answer.question.empty()) out += labelled("Asked", answer.question + ".");
  return out + labelled("Assumed", assumed_words(answer)) + labelled("Measured", answer.measured) +
         answer_how_sure(answer);
}

// The action says what to do next, or what more GPUs would bring.
std::string answer_head(const Answer& answer) {
  return paragraph(answer.verdict) + labelled("Cause", answer.cause) +
         labelled(answer.says_more_gpus ? "More GPUs" : "Next step", answer.action);
}

std::string write_answer_lines(const Answer& answer) { return answer_head(answer) + answer_basis(answer); }

}  // namespace foretrain

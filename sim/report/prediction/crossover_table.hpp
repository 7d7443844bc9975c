// The crossover and the inverse questions in words, for the table.
#pragma once

#include "sim/analysis/prediction.hpp"

namespace foretrain {

/// Fastest, worth requesting, slower than …, and what is lost there: a paragraph that begins with an empty
/// line.
std::string crossover_paragraph(const Prediction& prediction);

/// A paragraph, or nothing when it was not asked for.
std::string break_even_paragraph(const Prediction& prediction);

/// Every cause, one line each, for --explain.
std::string cause_lines(const Crossover& crossover);

/// The line below the tables of weak and of strong scaling: where each is fastest.
std::string scaling_verdict(const Prediction& weak, const Prediction& strong);

}  // namespace foretrain

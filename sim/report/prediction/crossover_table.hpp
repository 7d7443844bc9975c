// The crossover and the break-even values in words, for tables.
#pragma once

#include "sim/analysis/prediction.hpp"

namespace foretrain {

/// Returns a paragraph that begins with an empty line: the fastest number, numbers worth requesting, where
/// more GPUs are slower, and what is lost there.
std::string crossover_paragraph(const Prediction& prediction);

/// Returns the paragraph of --break-even; empty when it was not asked for.
std::string break_even_paragraph(const Prediction& prediction);

/// Returns every cause of losses on one line each, for --explain.
std::string cause_lines(const Crossover& crossover);

/// Returns the line below the tables of weak and strong scaling that says where each is fastest.
std::string scaling_verdict(const Prediction& weak, const Prediction& strong);

}  // namespace foretrain

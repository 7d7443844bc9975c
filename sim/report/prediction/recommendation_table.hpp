// The recommended job as text.
#pragma once

#include <string>

#include "sim/analysis/advice/recommendation.hpp"

namespace foretrain {

/// What to ask for and how long, then it and its runners-up in one table, then notes.
std::string write_recommendation(const Recommendation& recommendation);

}  // namespace foretrain

// The answer in one sentence that a person can repeat.
#pragma once

#include <string>

#include "sim/analysis/prediction.hpp"

namespace foretrain {

/// "More GPUs help up to at least 96; beyond 8 each is less than 90 % used." Says nothing that the table does
/// not. No line end; empty without points.
std::string headline(const Prediction& prediction);

}  // namespace foretrain

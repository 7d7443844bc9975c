// JSON of jobs whose ranks are not alike.
#pragma once

#include <vector>

#include "sim/analysis/prediction.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

Json unlike_json(const std::vector<UnlikeShare>& all);
Json mixing_json(const Mixing& mixing);

}  // namespace foretrain

// The layouts of one number of GPUs as JSON, schema foretrain.plan/1.
#pragma once

#include "sim/analysis/search/layouts.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

Json layouts_json(const LayoutSearch& search);

}  // namespace foretrain

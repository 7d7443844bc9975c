// Error statistics as every validation's JSON has them.
#pragma once

#include "sim/analysis/validation/validation.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

inline Json errors_json(const ErrorStatistics& s) {
  return {{"median", s.median}, {"p90", s.p90}, {"mean", s.mean}, {"bias", s.bias}};
}

}  // namespace foretrain

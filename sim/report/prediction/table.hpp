// The scaling table for people.
#pragma once

#include "sim/report/catalog.hpp"

namespace foretrain {

std::string write_table(const Prediction& prediction, const ReportOptions& options);

/// "3 h 25 min", "41.2 s": durations people plan with.
std::string spoken_time(double seconds);
/// "1 node", "4 nodes".
std::string counted(int count, std::string_view noun);

}  // namespace foretrain

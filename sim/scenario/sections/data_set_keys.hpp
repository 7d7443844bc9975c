// Keys that a data set's file and the table [data] share.
#pragma once

#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/workload/data_set.hpp"

namespace foretrain {

/// Returns the keys of a data set that both a file and a scenario may have.
const Keys<DataSet>& data_set_keys();  // schema_data_set.cpp

}  // namespace foretrain

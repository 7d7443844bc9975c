// Keys that a data set's file and the table [data] share.
#pragma once

#include "sim/scenario/toml/declared_keys.hpp"
#include "sim/workload/data_set.hpp"

namespace foretrain {

const Keys<DataSet>& data_set_keys();  // schema_data_set.cpp

}  // namespace foretrain

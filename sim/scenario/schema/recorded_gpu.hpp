// The GPU that a trace names, in the catalog.
#pragma once

#include <optional>
#include <string>

#include "sim/cluster/hardware.hpp"
#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

/// Finds a GPU by its name in the catalog, or as the driver calls it ("NVIDIA A100-SXM4-40GB"): the entry
/// whose parts are the same words in any order. Reports at `key` when there is none, and mistakes in its
/// file.
std::optional<Gpu> find_recorded_gpu(TableReader& table, std::string_view key, const std::string& name);

}  // namespace foretrain

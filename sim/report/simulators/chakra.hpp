// Planned steps as Chakra execution traces, with a file for each rank, as ASTRA-sim reads them
// (docs/models/networks.md).
#pragma once

#include <string>

#include "sim/report/simulators/exported_steps.hpp"

namespace foretrain {

/// Returns the bytes of one rank's file: GlobalMetadata, then the nodes, each message with its length before
/// it (schema 0.0.4 of MLCommons Chakra, schema/protobuf/et_def.proto).
std::string write_chakra(const ExportedSteps& steps, int rank);

/// Returns the groups of fewer than all ranks that collectives refer to, as JSON for ASTRA-sim's
/// --comm-group-configuration. Empty when there are none.
std::string write_chakra_groups(const ExportedSteps& steps);

}  // namespace foretrain

// Planned steps as Chakra execution traces, a file for each rank, as ASTRA-sim reads them
// (docs/models/export.md).
#pragma once

#include <string>

#include "sim/report/simulators/exported_steps.hpp"

namespace foretrain {

/// The bytes of one rank's file: GlobalMetadata, then the nodes, each message with its length before it
/// (schema 0.0.4 of MLCommons Chakra, schema/protobuf/et_def.proto).
std::string write_chakra(const ExportedSteps& steps, int rank);

/// The groups of ranks that collectives of fewer than all ranks name, as ASTRA-sim's
/// --comm-group-configuration takes them (JSON); empty where there are none.
std::string write_chakra_groups(const ExportedSteps& steps);

}  // namespace foretrain

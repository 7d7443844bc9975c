// Declares the records of Slurm's partitions, KEY=VALUE as in `scontrol show partition` and slurm.conf.
#pragma once

#include <string>
#include <string_view>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// A partition as Slurm lists it.
struct PartitionRecord {
  Partition partition;
  /// List of its nodes; "ALL": all of them.
  std::string hosts{};
  /// The state is UP; its resources (TRES) have GPUs.
  bool is_up = true, has_gpus = false;
};

/// Takes the value of a key. Keys that describe nothing that is needed change nothing. Never throws; values
/// that are no numbers read as no limit.
void take_partition_key(PartitionRecord& record, std::string_view key, std::string_view value);

/// Returns whether a line begins the record of a partition.
bool begins_partition(std::string_view line);

}  // namespace foretrain

// Partitions of Slurm as records of KEY=VALUE, from scontrol show partition and slurm.conf.
#pragma once

#include <string>
#include <string_view>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// A partition as Slurm lists it.
struct PartitionRecord {
  Partition partition;
  std::string hosts{};  ///< list of its nodes; "ALL": all
  bool is_up = true, has_gpus = false;
};

/// What a key says of the partition; a key that says nothing of it changes nothing.
void take_partition_key(PartitionRecord& record, std::string_view key, std::string_view value);

/// Whether a line begins a partition.
bool begins_partition(std::string_view line);

}  // namespace foretrain

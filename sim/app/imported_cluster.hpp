// A cluster file made of what tools or the machine say, written with what people must know of it.
#pragma once

#include <string>
#include <vector>

#include "sim/import/detection/detection.hpp"
#include "sim/import/machines/machine_cluster.hpp"

namespace foretrain {

/// What files tell of a machine: each block of a pasted text is a machine of its own until they are joined.
struct ReadMachines {
  std::vector<Machine> machines;
  std::vector<MachineWarning> doubts;  ///< blocks that contradict each other
  std::vector<std::string> notes;      ///< what else is in the files
};

/// "-" is standard input. Bounded.
SourceText read_machine_text(const std::string& name);

/// Throws InputError with the mistakes of all files.
ReadMachines read_machines(const std::vector<std::string>& files);

ImportedCluster cluster_of_read(const ReadMachines& read, const ImportAnswers& answers);

/// The text to a file, or standard output where `output` is empty; assumptions and doubts to standard error.
void write_imported(const ImportedCluster& cluster, const std::string& output);

/// A cluster of machines like this one. Where no GPU was seen and none is named, cores take the GPUs' place.
ImportedCluster cluster_of_detected(DetectedMachine& detected, ImportAnswers answers);

}  // namespace foretrain

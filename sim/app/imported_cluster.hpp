// A cluster file that is made from the output of tools or from this machine, and how it is written.
#pragma once

#include <string>
#include <vector>

#include "sim/import/detection/detection.hpp"
#include "sim/import/machines/machine_cluster.hpp"

namespace foretrain {

/// Facts that files state about machines. Each block of a pasted text is a machine of its own until blocks
/// are joined.
struct ReadMachines {
  std::vector<Machine> machines;
  /// Contradictions between blocks.
  std::vector<MachineWarning> doubts;
  /// Sentences about other content of the files.
  std::vector<std::string> notes;
};

/// Reads a file, or standard input for "-". Throws InputError when it exceeds the limit of size.
SourceText read_machine_text(const std::string& name);

/// Reads all files. Throws one InputError with the mistakes of all of them.
ReadMachines read_machines(const std::vector<std::string>& files);

/// Makes a cluster of the machines, with the user's answers where the files are silent. Throws InputError.
ImportedCluster cluster_of_read(const ReadMachines& read, const ImportAnswers& answers);

/// Writes the cluster file to `output`, or to standard output when that is empty. Assumptions and warnings go
/// to standard error.
void write_imported(const ImportedCluster& cluster, const std::string& output);

/// Makes a cluster of machines like this one. When no GPU was seen and none is named, CPU cores take the
/// GPUs' place.
ImportedCluster cluster_of_detected(DetectedMachine& detected, ImportAnswers answers);

}  // namespace foretrain

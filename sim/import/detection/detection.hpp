// Detects this machine, or reads a copy of another's system files, and describes it as a Machine.
// Sources are sysfs and procfs for CPUs, PCIe and network ports, and hwloc, NVML and Slurm where they are
// installed.
#pragma once

#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// A detected machine, and what could not be seen of it.
struct DetectedMachine {
  Machine machine;
  /// Lines for people: which source was missing, and what is therefore unknown.
  std::vector<std::string> unseen;
};

/// Detects the machine that the program runs on if `root` is empty: files, libraries and commands are used.
/// Otherwise `root` is a folder with sys/ and proc/ of another machine, and only these files are read.
/// Throws InputError when the folder does not exist or holds neither CPUs nor memory. Missing sources are
/// listed in `unseen` and never throw. Commands of Slurm may take up to 10 s each.
DetectedMachine detected_machine(const std::string& root);

}  // namespace foretrain

// This machine, or the files of another, as a Machine: sysfs for CPUs, PCIe and network ports, hwloc, NVML
// and Slurm where they are.
#pragma once

#include <string>
#include <vector>

#include "sim/import/machines/machine.hpp"

namespace foretrain {

/// The machine that the program runs on, and what could not be seen of it.
struct DetectedMachine {
  Machine machine;
  std::vector<std::string> unseen;  ///< one line each: what was not there, and what is therefore not known
};

/// An empty root: this machine, with its libraries and commands; else a folder that has another machine's
/// sys/ and proc/, read alone. Throws InputError when there is no such folder, or nothing of a machine in it.
DetectedMachine detected_machine(const std::string& root);

}  // namespace foretrain

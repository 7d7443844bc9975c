// What Slurm's own commands say of the nodes and the network, where they are.
#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Output of Slurm's commands about this site, for the readers of machine files.
struct SlurmSite {
  std::vector<SourceText> texts;     ///< for read_machine(): nodes of one kind, switches
  std::vector<std::string> missing;  ///< what could not be asked and why
};

/// Asks for the nodes like `host`, or for all of them where `host` is none of Slurm's.
SlurmSite slurm_site(const std::string& host);

/// Lines of `scontrol -o show node` whose GPUs and CPUs are those of `host`; all of them where it is not
/// among them.
std::string nodes_like(const std::string& text, const std::string& host);

}  // namespace foretrain

// Asks Slurm's own commands for the nodes and the network of this site, where they are installed.
#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Output of Slurm's commands, for the readers of machine files.
struct SlurmSite {
  /// Texts for read_machine(): nodes of one kind, partitions, switches.
  std::vector<SourceText> texts;
  /// Lines for people: which command gave nothing, and what is therefore unknown.
  std::vector<std::string> missing;
};

/// Runs scontrol for nodes, partitions and topology. Of the nodes, those like `host` are kept, or all when
/// Slurm does not know `host`.
/// Each command may take up to 10 s. Does not throw; problems are in `missing`.
SlurmSite slurm_site(const std::string& host);

/// Returns those lines of `scontrol -o show node` whose GPUs (Gres) and CPUs (CPUTot) equal those of `host`.
/// Returns the whole text when `host` is not in it.
std::string nodes_like(const std::string& text, const std::string& host);

}  // namespace foretrain

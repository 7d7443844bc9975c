// Options of compare about machines: a deadline and prices of GPU-hours.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/search/machines.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// The texts that the options write to before they are read.
struct MachineTexts {
  std::string deadline;
  /// "1.5" for every cluster, "mahti=2" for one.
  std::vector<std::string> prices;
};

/// Adds --deadline and --price.
void add_machine_options(CLI::App& command, MachineTexts& texts);

/// Returns what the texts ask for. Throws InputError for a text that is no duration or no price.
MachinesRequest read_machine_options(const MachineTexts& texts);

}  // namespace foretrain

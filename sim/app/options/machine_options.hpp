// Options of compare about machines: a deadline and prices.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/search/machines.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// What the options write to before it is read.
struct MachineTexts {
  std::string deadline;
  std::vector<std::string> prices;  ///< "1.5" of every cluster, "mahti=2" of one
};

void add_machine_options(CLI::App& command, MachineTexts& texts);

/// Throws InputError for what is no duration or no price.
MachinesRequest read_machine_options(const MachineTexts& texts);

}  // namespace foretrain

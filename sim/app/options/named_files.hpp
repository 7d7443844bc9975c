// Files on the command line. Each is given to the reader of its content.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Help text of --model in most commands.
inline constexpr const char* kNamedModel =
    "A model of the catalog or a file: of ours, or another tool's as `model import` reads it";

/// Adds --model, which takes a model of the catalog, a model file, or a file of another tool. The latter is
/// imported as by `model import`.
void add_model(CLI::App& command, ScenarioOverrides& overrides, const char* meaning);

/// Stores the network's name. A file of another tool is imported into overrides.networks, and each assumption
/// becomes a note. Throws InputError with the mistakes of that file.
void take_model(const std::string& name, ScenarioOverrides& overrides);

/// Sorts `names`: scenarios, job scripts and names of the catalog stay; training settings move to
/// `settings_files`; a network becomes the model. Throws InputError when two networks are named.
void sort_files(std::vector<std::string>& names, std::vector<std::string>& settings_files,
                ScenarioOverrides& overrides);

}  // namespace foretrain

// Files on the command line, each given to the reader of what it holds.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// What most commands say of --model.
inline constexpr const char* kNamedModel =
    "A model of the catalog or a file: of ours, or another tool's as `model import` reads it";

/// --model: a network of the catalog, a model file, or a file of another tool (`model import` reads the
/// same), which is imported.
void add_model(CLI::App& command, ScenarioOverrides& overrides, const char* meaning);

/// Names the network; a file of another tool becomes a model file in overrides.networks, and what was
/// assumed becomes a note. Throws InputError with the mistakes of that file.
void take_model(const std::string& name, ScenarioOverrides& overrides);

/// Leaves scenarios, jobs and names of the catalog in `names`; training settings go to `settings_files`, and
/// a network becomes the model. Throws InputError where several networks are named.
void sort_files(std::vector<std::string>& names, std::vector<std::string>& settings_files,
                ScenarioOverrides& overrides);

}  // namespace foretrain

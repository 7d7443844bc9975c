// The options of `model import`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Declares the subcommand of `model`; `command` must live as long as the app.
void add_model_import(CLI::App& model, ImportModelCommand& command);

/// What --layers takes, and what it means; of names that one_of() let through.
const std::vector<std::string>& layer_listings();
LayerListing listing_named(std::string_view name);

}  // namespace foretrain

// Options of the command `model import`, and the listings of layers that `model show` knows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/app/commands.hpp"

namespace CLI {
class App;
}

namespace foretrain {

/// Declares the command below `model`. It writes a model file to -o or standard output. `command` must live
/// as long as the app.
void add_model_import(CLI::App& model, ImportModelCommand& command);

/// Returns the names that --layers takes: folded, all, none.
const std::vector<std::string>& layer_listings();
/// Returns the listing of that name. Precondition: one_of(layer_listings()) has accepted the name.
LayerListing listing_named(std::string_view name);

}  // namespace foretrain

// Finding the scenario that a command line names.
#pragma once

#include <string>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// A file when there is one of that name, else an entry of the scenario catalog. Throws InputError with near names.
SourceText open_scenario(const std::string& name);

}  // namespace foretrain

// Reading all scenarios of a command line before anything runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// Opens each of `names` and hands it to `read`; no name at all is a text without a name, whose scenario comes from the options alone. The
/// mistakes of all are thrown at once as InputError, each once.
void read_scenarios(const std::vector<std::string>& names, const std::function<void(const SourceText&)>& read);

}  // namespace foretrain

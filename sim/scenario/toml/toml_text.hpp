// A document written as TOML.
#pragma once

#include <string>

#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// Values of a table first, then its tables under their headers; tables in arrays inline. What parse_toml()
/// reads from it is the same document, but for places.
std::string toml_text(const Table& document);

}  // namespace foretrain

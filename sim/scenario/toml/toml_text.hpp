// Writes a document as TOML.
#pragma once

#include <string>

#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// Returns the document as text: values of a table first, then its tables under their headers; tables in
/// arrays are inline. parse_toml() reads the same document from it, except for places.
std::string toml_text(const Table& document);

}  // namespace foretrain

// Access to JSON as the readers of logs need it: a value that is missing is null and never an exception.
#pragma once

#include <nlohmann/json.hpp>

namespace foretrain {

/// A JSON value of the library that all readers share.
using LogJson = nlohmann::json;

/// Returns the value of a key; null where `object` lacks the key or is no object. The reference lives as long
/// as `object`.
const LogJson& at(const LogJson& object, const char* key);

}  // namespace foretrain

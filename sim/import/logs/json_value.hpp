// JSON as the readers of logs take it: never a throw for what is missing.
#pragma once

#include <nlohmann/json.hpp>

namespace foretrain {

using LogJson = nlohmann::json;

/// The value of a key; null where there is no such key, or no object.
const LogJson& at(const LogJson& object, const char* key);

}  // namespace foretrain

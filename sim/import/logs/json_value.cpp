// JSON as the readers of logs take it.
#include "sim/import/logs/json_value.hpp"

namespace foretrain {

const LogJson& at(const LogJson& object, const char* key) {
  static const LogJson none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

}  // namespace foretrain

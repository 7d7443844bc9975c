// A single static null stands for every missing value, so that calls of at() can be nested without checks.
#include "sim/import/logs/json_value.hpp"

namespace foretrain {

const LogJson& at(const LogJson& object, const char* key) {
  static const LogJson none;
  if (!object.is_object()) return none;
  const auto found = object.find(key);
  return found == object.end() ? none : *found;
}

}  // namespace foretrain

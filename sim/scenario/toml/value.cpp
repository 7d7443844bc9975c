// Look-up in parsed tables, and the names of value kinds.
#include "sim/scenario/toml/value.hpp"

#include <algorithm>
#include <array>

namespace foretrain {

const Entry* Table::find(std::string_view key) const {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

Entry* Table::find(std::string_view key) {
  const auto found =
      std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

std::string_view kind_of(const Value& value) {
  static constexpr std::array<std::string_view, 7> kNames{
      "nothing", "true or false", "an integer", "a number", "a string", "a list", "a table"};
  return kNames[value.data.index()];
}

}  // namespace foretrain

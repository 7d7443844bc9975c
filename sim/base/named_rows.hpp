// Look-up of rows of a table by their member `name`.
#pragma once

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Returns a pointer to the first row with this name, or nullptr. O(rows).
template <class Rows>
const auto* find_row(const Rows& rows, std::string_view name) {
  const auto found =
      std::find_if(std::begin(rows), std::end(rows), [name](const auto& row) { return row.name == name; });
  return found == std::end(rows) ? nullptr : &*found;
}

/// Returns the names in the order of the rows.
template <class Rows>
std::vector<std::string> names_of_rows(const Rows& rows) {
  std::vector<std::string> names;
  for (const auto& row : rows) names.emplace_back(row.name);
  return names;
}

}  // namespace foretrain

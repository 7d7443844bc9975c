// Settings of one command line: none may contradict another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Keys of a table that exclude each other.
struct RivalKeys {
  std::string_view table;
  std::vector<std::string_view> keys;
  std::string_view hint;
};
/// Returns all groups of such keys.
const std::vector<RivalKeys>& rival_keys();

/// Throws InputError with every setting ("key=value") that gives a key of an earlier one another value, or
/// that excludes an earlier one; both are named. A setting that replaces a file's value is not a
/// contradiction.
void check_given_settings(const std::vector<std::string>& settings);

}  // namespace foretrain

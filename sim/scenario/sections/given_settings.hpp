// Settings of one command line beside each other: none may contradict another.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Keys of which a table may hold only one.
struct RivalKeys {
  std::string_view table;
  std::vector<std::string_view> keys;
  std::string_view hint;
};
const std::vector<RivalKeys>& rival_keys();

/// Throws InputError with every setting ("key=value") that gives a key of an earlier one another value, or
/// that excludes an earlier one; both are named. A setting over a file's value is no contradiction.
void check_given_settings(const std::vector<std::string>& settings);

}  // namespace foretrain

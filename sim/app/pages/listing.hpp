// The entries of each catalog with a summary of one line, for `list` and for the reference.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// An entry of a catalog as `foretrain list` prints it.
struct ListedEntry {
  std::string name;
  std::string summary;
};

/// Returns the entries of a list of listable() (commands.hpp). Throws InputError when a file of the catalog
/// is wrong.
std::vector<ListedEntry> list_entries(std::string_view what);
/// Returns the names alone, without reading the files behind them.
std::vector<std::string> list_names(std::string_view what);

}  // namespace foretrain

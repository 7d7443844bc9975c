// The entries of each catalog with a one-line summary: for `list` and the reference.
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

/// `what`: one of listable() (commands.hpp). Throws InputError when a file of a catalog is wrong.
std::vector<ListedEntry> list_entries(std::string_view what);
/// Their names alone, without a look into any file.
std::vector<std::string> list_names(std::string_view what);

}  // namespace foretrain

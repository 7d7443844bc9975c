// The entries of each catalog with a one-line summary: for `list` and the reference.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

struct ListedEntry {
  std::string name;
  std::string summary;
};

/// `what`: one of listable(). Throws InputError when a file of a catalog is wrong.
std::vector<ListedEntry> list_entries(std::string_view what);

}  // namespace foretrain

// Lists of names as Slurm shortens them: tux[0-3,7],login.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// How many names a list has; 0 for one that cannot be read. At most a million.
int count_of_names(std::string_view list);

/// The names themselves, at most `most`.
std::vector<std::string> names_of_list(std::string_view list, std::size_t most);

}  // namespace foretrain

// Reads lists of host names as Slurm shortens them, such as "tux[0-3,7],login".
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// Returns the number of names in a list, at most 10^6. A range that cannot be read counts as no names.
int count_of_names(std::string_view list);

/// Returns the names themselves in the order of the list, at most `most` of them. Leading zeros stay:
/// "n[08-10]" gives n08, n09, n10.
std::vector<std::string> names_of_list(std::string_view list, std::size_t most);

/// The nodes that a list of Slurm names, at most 20,000 of them. "ALL" stands for every node.
class HostSet {
 public:
  explicit HostSet(std::string_view list);
  /// Says whether any of the hosts is in the set.
  bool shares(const std::vector<std::string>& hosts) const;

 private:
  std::set<std::string, std::less<>> names_;
  bool has_all_ = false;
};

}  // namespace foretrain

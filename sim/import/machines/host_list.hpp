// Lists of names as Slurm shortens them: tux[0-3,7],login.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// How many names a list has; 0 for one that cannot be read. At most a million.
int count_of_names(std::string_view list);

/// The names themselves, at most `most`.
std::vector<std::string> names_of_list(std::string_view list, std::size_t most);

/// The nodes that a list of Slurm names, at most 20,000; "ALL": every node.
class HostSet {
 public:
  explicit HostSet(std::string_view list);
  /// Whether any of the hosts is among them.
  bool shares(const std::vector<std::string>& hosts) const;

 private:
  std::set<std::string, std::less<>> names_;
  bool has_all_ = false;
};

}  // namespace foretrain

// Which commands, run on a node, settle what a cluster file marks as assumed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// A command whose output would settle what is still unknown of a machine.
struct ClusterQuestion {
  std::string command;  ///< "nvidia-smi topo -m"
  std::string settles;  ///< "NVLinks, where the GPUs hang"
  friend bool operator==(const ClusterQuestion&, const ClusterQuestion&) = default;
};

inline constexpr std::size_t kMostQuestions = 8;

/// From the comments "assumed" of a cluster file: each command once, those first whose answer changes a
/// prediction most (docs/tutorials/paste.md). At most kMostQuestions. Empty: nothing is assumed.
std::vector<ClusterQuestion> cluster_questions(std::string_view cluster_toml);

}  // namespace foretrain

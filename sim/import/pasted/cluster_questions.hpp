// Declares which commands, run on a node, settle what a cluster file marks as assumed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// A command whose output would settle what is unknown about a machine.
struct ClusterQuestion {
  /// Command line, such as "nvidia-smi topo -m".
  std::string command;
  /// Facts that it settles, such as "which GPUs NVLinks join, where the GPUs hang".
  std::string settles;
  friend bool operator==(const ClusterQuestion&, const ClusterQuestion&) = default;
};

/// Questions of one file, at most.
inline constexpr std::size_t kMostQuestions = 8;

/// Returns the commands for the comments "assumed" of a cluster file. Each command stands once, and those
/// whose answer changes a prediction most come first (docs/tutorials/paste.md). Empty: nothing is assumed.
std::vector<ClusterQuestion> cluster_questions(std::string_view cluster_toml);

}  // namespace foretrain

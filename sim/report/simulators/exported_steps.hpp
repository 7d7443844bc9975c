// The planned steps of one rank as other simulators take them: nodes with durations, collectives by name and
// size, the order between them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/collective/schedule.hpp"
#include "sim/strategy/process/group_collectives.hpp"

namespace foretrain {

/// A collective among ranks. `size` as nccl-tests counts it.
struct ExportedMessage {
  CollectiveOp op = CollectiveOp::all_reduce;
  Group among = Group::world;
  bool tree = false;  ///< NCCL takes its double binary tree; otherwise a ring
  Bytes size{};
};

/// What must have ended, and how much later the node may begin.
struct ExportedDependency {
  std::uint32_t node = 0;
  Time lag{};  ///< 0 where it is one of the short ones that are left out
};

/// Latencies of launches and wake-ups below that are left out: they overlap with the host's next calls. What
/// is longer are waits, as for Horovod's next cycle.
inline constexpr Time kShortLag{50'000'000};

/// A node of an exported task graph, in terms of Chakra.
struct ExportedNode {
  TaskKind kind = TaskKind::host;
  QueueId queue = 0;
  std::string_view label;  ///< may be empty
  Time duration{};         ///< without what it waited for; of a collective: as it took here
  Time start{};            ///< as it ran here
  std::vector<ExportedDependency> after;
  std::optional<ExportedMessage> message{};
};

/// All ranks do the same; what a rank's messages are with, follows from its number.
struct ExportedSteps {
  std::string name;  ///< "resnet50 on mahti with ddp"
  std::vector<ExportedNode> nodes;
  std::vector<std::string> queues;
  std::vector<int> node_of_rank;   ///< from 0 in the order of the ranks; its size is their number
  std::vector<int> place_of_rank;  ///< in its node, from 0
  int steps = 0;
  std::size_t short_lags = 0;  ///< that are left out
  std::size_t waits = 0;       ///< longer ones
  int ranks() const { return static_cast<int>(node_of_rank.size()); }
};

/// Keeps `recorded`'s labels alive only as long as it lives. Throws InputError for strategies in which one
/// process drives several GPUs.
ExportedSteps exported_steps(const RecordedSteps& recorded, const Scenario& scenario);

/// Numbers the nodes of the ranks, given by any number, and the ranks' places in them.
void set_ranks(ExportedSteps& steps, const std::vector<int>& nodes);

/// The ranks of a rank's group, ascending.
std::vector<int> group_of(const ExportedSteps& steps, Group group, int rank);

}  // namespace foretrain

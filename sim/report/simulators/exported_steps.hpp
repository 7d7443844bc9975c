// The planned steps of a rank in the form that other simulators take: nodes with durations, collectives with
// their size, and dependencies between nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/collective/schedule.hpp"
#include "sim/strategy/process/group_collectives.hpp"

namespace foretrain {

/// A collective among ranks. `size` is counted as nccl-tests does.
struct ExportedMessage {
  CollectiveOp op = CollectiveOp::all_reduce;
  Group among = Group::world;
  /// True when NCCL uses its double binary tree; otherwise a ring.
  bool tree = false;
  Bytes size{};
};

/// A node that must have ended, and how much later the next one may begin.
struct ExportedDependency {
  std::uint32_t node = 0;
  /// 0 for short lags, which are left out.
  Time lag{};
};

/// Latencies of launches and wake-ups below this time are left out, since they overlap with the host's next
/// calls. Longer lags are waits, such as for Horovod's next cycle.
inline constexpr Time kShortLag{50'000'000};

/// A node of an exported task graph.
struct ExportedNode {
  TaskKind kind = TaskKind::host;
  QueueId queue = 0;
  /// Label of the task; may be empty.
  std::string_view label;
  /// Duration without waits; for a collective, the time that it took here.
  Time duration{};
  /// Time at which it began here.
  Time start{};
  std::vector<ExportedDependency> after;
  std::optional<ExportedMessage> message{};
};

/// The steps of all ranks, which do the same. The partners of a message follow from a rank's number.
struct ExportedSteps {
  /// Name such as "resnet50 on mahti with ddp".
  std::string name;
  std::vector<ExportedNode> nodes;
  std::vector<std::string> queues;
  /// Node of each rank, numbered from 0 in the order of the ranks; its size is the number of ranks.
  std::vector<int> node_of_rank;
  /// Place of each rank in its node, from 0.
  std::vector<int> place_of_rank;
  int steps = 0;
  /// Number of short lags that are left out.
  std::size_t short_lags = 0;
  /// Number of longer ones.
  std::size_t waits = 0;
  int ranks() const { return static_cast<int>(node_of_rank.size()); }
};

/// Converts recorded steps. Labels refer to `recorded`, which must outlive the result. Throws InputError for
/// strategies in which one process drives several GPUs.
ExportedSteps exported_steps(const RecordedSteps& recorded, const Scenario& scenario);

/// Stores the nodes of the ranks, given by any numbers, and each rank's place in its node.
void set_ranks(ExportedSteps& steps, const std::vector<int>& nodes);

/// Returns the ranks of a rank's group, ascending.
std::vector<int> group_of(const ExportedSteps& steps, Group group, int rank);

}  // namespace foretrain

// Exposed communication of a step, divided by the kind of link on which it runs.
#pragma once

#include <array>
#include <string>

#include "sim/engine/timeline.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Number of kinds of waits: one for each LinkKind, one for other jobs' traffic on the network, and the last
/// for messages that cross no link (negotiation, waking up).
inline constexpr std::size_t kWaitKinds = 6;
/// Index of the waits for other jobs' traffic; the indices below it are those of LinkKind.
inline constexpr std::size_t kBackgroundWait = 4;
/// Seconds of a step by kind of wait; their sum is the step's exposed communication.
using LinkWaits = std::array<double, kWaitKinds>;

/// Returns the mean over `steps` steps of the time that a stream waited for messages, from its path
/// (queue_path). A message counts for the link that needs longest for its bytes. Linear in the path.
LinkWaits link_waits(const TaskGraph& graph, const std::vector<PathPiece>& path, const Cluster& cluster,
                     int steps);

/// Returns "exposed communication over the network (hdr)" with the cluster's own name of the link, or
/// "coordination between ranks" for the last kind.
std::string name_of_wait(std::size_t kind, const ClusterSpec& cluster);

/// Returns the name of the link alone: "the network (hdr)". Requires a kind of link.
std::string name_of_link(std::size_t kind, const ClusterSpec& cluster);
/// Returns the bandwidth of one link of a kind; 0 where the cluster has none.
ByteRate link_speed(LinkKind kind, const ClusterSpec& cluster);

}  // namespace foretrain

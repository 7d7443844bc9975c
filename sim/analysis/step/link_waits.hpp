// On which kind of link the communication runs that a step waits for.
#pragma once

#include <array>
#include <string>

#include "sim/engine/timeline.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// One for each LinkKind, one for other jobs' traffic on the network, and the last for messages that cross no
/// link: negotiation, waking up.
inline constexpr std::size_t kWaitKinds = 6;
/// That of other jobs' traffic; those of links come before it.
inline constexpr std::size_t kBackgroundWait = 4;
/// Seconds of a step, by LinkKind; their sum is its exposed communication.
using LinkWaits = std::array<double, kWaitKinds>;

/// What a stream waited for messages in `steps` steps (queue_path), in the mean of them. A message is counted
/// with the link that needs longest for its bytes.
LinkWaits link_waits(const TaskGraph& graph, const std::vector<PathPiece>& path, const Cluster& cluster,
                     int steps);

/// "exposed communication over the network (hdr)", with the cluster's own name of the link; "coordination
/// between ranks" for the last kind.
std::string name_of_wait(std::size_t kind, const ClusterSpec& cluster);

/// "the network (hdr)". Requires one of the kinds of link.
std::string name_of_link(std::size_t kind, const ClusterSpec& cluster);
/// What one link of a kind carries; 0 when the cluster has none.
ByteRate link_speed(LinkKind kind, const ClusterSpec& cluster);

}  // namespace foretrain

// The kinds by which measured rows are grouped: the path of a collective's bytes, the family of the
// operation, and the arithmetic of a network.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/cluster/hardware.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// The connection that a collective's bytes move over; `any` where nothing moves or the path is unknown.
enum class MessagePath : std::uint8_t {
  nvlink,
  pcie,
  infiniband,
  roce,
  efa,
  slingshot,
  sockets,
  other_network,
  any
};
/// Names in tables, in the order of MessagePath.
inline constexpr std::array<std::string_view, 9> kMessagePathNames{
    "nvlink", "pcie", "infiniband", "roce", "efa", "slingshot", "sockets", "other_network", "any"};
/// Returns the path of messages between GPUs: the network's where there are several nodes, else the node's.
MessagePath path_of(const ClusterSpec& cluster, int nodes);

/// Families of operations that NCCL runs alike: rings and trees, chains from or to a root, sends and
/// receives.
enum class OpFamily : std::uint8_t { reductions, rooted, peers, any };

/// The part that takes most of a collective's time.
enum class LongestPart : std::uint8_t { latency, data, any };
/// Names in tables, in the order of LongestPart.
inline constexpr std::array<std::string_view, 3> kLongestPartNames{"latency", "data", "any"};

/// The group of measured rows that a collective belongs to.
struct CollectiveEvidence {
  MessagePath path = MessagePath::any;
  OpFamily family = OpFamily::any;
  LongestPart part = LongestPart::any;
  auto operator<=>(const CollectiveEvidence&) const = default;
};

/// The operators that most of a network's arithmetic consists of.
enum class NetworkKind : std::uint8_t { convolutions, products, recurrent, any };
/// Names in tables, in the order of NetworkKind.
inline constexpr std::array<std::string_view, 4> kNetworkKindNames{"convolutions", "products", "recurrent",
                                                                   "any"};
/// Returns the kind of the scenario's network, by the FLOPs of its forward pass.
NetworkKind network_kind(const Scenario& scenario);

}  // namespace foretrain

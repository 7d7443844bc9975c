// What measured rows are told apart by: what moves the bytes of a collective, what an operation is like, and
// what a network's arithmetic mostly is.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "sim/cluster/hardware.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// What the bytes of a collective move over.
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
inline constexpr std::array<std::string_view, 9> kMessagePathNames{
    "nvlink", "pcie", "infiniband", "roce", "efa", "slingshot", "sockets", "other_network", "any"};
/// Over the network where there are several nodes.
MessagePath path_of(const ClusterSpec& cluster, int nodes);

/// Operations that NCCL runs alike: rings and trees, chains from or to a root, sends and receives.
enum class OpFamily : std::uint8_t { reductions, rooted, peers, any };

/// What most of a collective's time goes to.
enum class LongestPart : std::uint8_t { latency, data, any };
inline constexpr std::array<std::string_view, 3> kLongestPartNames{"latency", "data", "any"};

/// By which rows a collective is known.
struct CollectiveEvidence {
  MessagePath path = MessagePath::any;
  OpFamily family = OpFamily::any;
  LongestPart part = LongestPart::any;
  auto operator<=>(const CollectiveEvidence&) const = default;
};

/// Of which operators a network's arithmetic mostly is.
enum class NetworkKind : std::uint8_t { convolutions, products, recurrent, any };
inline constexpr std::array<std::string_view, 4> kNetworkKindNames{"convolutions", "products", "recurrent",
                                                                   "any"};
NetworkKind network_kind(const Scenario& scenario);

}  // namespace foretrain

// How well kernels, links and whole steps were predicted where rows were left out: the spreads of intervals,
// each from the rows of its own kind.
#pragma once

#include <array>
#include <cstdint>
#include <span>
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

/// Operations that NCCL runs alike: rings and trees, chains from or to a root, sends and receives.
enum class OpFamily : std::uint8_t { reductions, rooted, peers, any };
inline constexpr std::array<std::string_view, 4> kOpFamilyNames{"reductions", "rooted", "peers", "any"};

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

/// A spread: what nine of ten rows need, of machines the constants know (ClusterSpec::collectives_measured,
/// trainings_measured, Gpu::trainings_measured) and of those they do not.
struct KnownTo {
  double seen = 0, unseen = 0;
  int rows = 0, machines = 0;
  double of(bool is_seen) const { return is_seen ? seen : unseen; }
};

/// Of a path with few rows: those of its kind on any path, or of all.
KnownTo spread_of(CollectiveEvidence kind);
KnownTo spread_of_kernels(NetworkKind kind);
/// Of the host's calls and launches, where steps wait for them.
KnownTo spread_of_host();
/// Mean part of a step that is lost to what the model does not know, on one node.
KnownTo loss_of(FrameworkKind framework);
/// Standard deviation of the logarithm of a larger job's step beside that of the measured one: what makes
/// jobs faster than predicted.
KnownTo scatter_of(FrameworkKind framework);
/// By how much more that is on so many times the reference's nodes: 1 on as many; on straight lines over the
/// logarithm of the number.
double loss_growth(double times_the_nodes);

/// Rows with more nodes are told apart so: 1, 2, 3 to 8, more times the nodes of the measured job.
inline constexpr std::array<std::string_view, 4> kNodeClassNames{"1", "2", "3 to 8", "more than 8"};
std::size_t node_class(int times_the_nodes);

/// Over the network where there are several nodes.
MessagePath path_of(const ClusterSpec& cluster, int nodes);

}  // namespace foretrain

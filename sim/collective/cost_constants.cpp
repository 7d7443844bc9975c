// The constants of collectives as a table of rows. Each row is made from a pointer to its member, so that a
// constant is named once.
#include "sim/collective/costs.hpp"

namespace foretrain {

namespace {

using CostRow = ConstantOf<CollectiveCosts>;

/// Standard deviations of logarithms. Among generations and clusters of the training rows, times differ by
/// about a factor of two and rates by a third (docs/models/uncertainty.md).
constexpr double kTimePrior = 0.6, kRatePrior = 0.35, kSharePrior = 0.2;
/// Longest time that a calibration may give a constant, in s.
constexpr double kLongest = 1e-2;

/// Makes the row of a time.
template <auto Member>
CostRow time_row(std::string name, std::string meaning) {
  return {{std::move(name), Dimension::time, 1e-8, kLongest, kTimePrior, std::move(meaning)},
          [](const CollectiveCosts& costs) { return to_seconds(costs.*Member); },
          [](CollectiveCosts& costs, double value) { costs.*Member = seconds(value); }};
}

/// Makes the row of a rate.
template <auto Member>
CostRow rate_row(std::string name, std::string meaning) {
  return {{std::move(name), Dimension::byte_rate, 1e7, 1e12, kRatePrior, std::move(meaning)},
          [](const CollectiveCosts& costs) { return (costs.*Member).per_second; },
          [](CollectiveCosts& costs, double value) { costs.*Member = {value}; }};
}

/// Makes the row of a share between 0 and 1.
template <auto Member>
CostRow share_row(std::string name, std::string meaning) {
  return {{std::move(name), std::nullopt, 0.01, 1, kSharePrior, std::move(meaning)},
          [](const CollectiveCosts& costs) { return costs.*Member; },
          [](CollectiveCosts& costs, double value) { costs.*Member = value; }};
}

/// Returns the name of a constant of one protocol: "nccl.ring_step.ll".
std::string of_protocol(std::string_view name, std::size_t protocol) {
  static constexpr std::string_view kNames[] = {"ll", "ll128", "simple"};
  return std::string(name) + "." + std::string(kNames[protocol]);
}

/// Makes the row of one protocol's time from a table by protocol.
template <auto Member, std::size_t I>
CostRow step_row(std::string_view name, const std::string& meaning) {
  return {{of_protocol(name, I), Dimension::time, 1e-8, kLongest, kTimePrior, meaning},
          [](const CollectiveCosts& costs) { return to_seconds((costs.*Member)[I]); },
          [](CollectiveCosts& costs, double value) { (costs.*Member)[I] = seconds(value); }};
}

/// Makes the row of one protocol's rate from a table by protocol.
template <auto Member, std::size_t I>
CostRow channel_row(std::string_view name, const std::string& meaning) {
  return {{of_protocol(name, I), Dimension::byte_rate, 1e7, 1e12, kRatePrior, meaning},
          [](const CollectiveCosts& costs) { return (costs.*Member)[I].per_second; },
          [](CollectiveCosts& costs, double value) { (costs.*Member)[I] = {value}; }};
}

/// Makes the row of one protocol's plain number from a table by protocol.
template <auto Member, std::size_t I>
CostRow plain_row(std::string_view name, double most, const std::string& meaning) {
  return {{of_protocol(name, I), std::nullopt, 0.01, most, kSharePrior, meaning},
          [](const CollectiveCosts& costs) { return (costs.*Member)[I]; },
          [](CollectiveCosts& costs, double value) { (costs.*Member)[I] = value; }};
}

/// Adds the three rows of a time by protocol.
template <auto Member>
void add_steps(std::vector<CostRow>& rows, std::string_view name, const std::string& meaning) {
  rows.push_back(step_row<Member, 0>(name, meaning));
  rows.push_back(step_row<Member, 1>(name, meaning));
  rows.push_back(step_row<Member, 2>(name, meaning));
}

/// Adds the three rows of a plain number by protocol.
template <auto Member>
void add_shares(std::vector<CostRow>& rows, std::string_view name, double most, const std::string& meaning) {
  rows.push_back(plain_row<Member, 0>(name, most, meaning));
  rows.push_back(plain_row<Member, 1>(name, most, meaning));
  rows.push_back(plain_row<Member, 2>(name, most, meaning));
}

std::vector<CostRow> make_rows() {
  using C = CollectiveCosts;
  std::vector<CostRow> rows{
      time_row<&C::launch>("nccl.launch", "host time of one launch"),
      time_row<&C::channel_enqueue>("nccl.channel_enqueue",
                                    "host time of every channel but the first, before NCCL 2.10"),
      time_row<&C::group_launch>("nccl.group_launch", "host time of launching a group of sends and receives"),
      time_row<&C::kernel>("nccl.kernel", "a kernel that starts, meets its peers and ends"),
      time_row<&C::channel_start>("nccl.channel_start",
                                  "what every channel but the first lengthens a kernel, before NCCL 2.10"),
      time_row<&C::simple_start>("nccl.simple_start", "what Simple needs beyond its steps, on NVLink"),
      time_row<&C::peer_start>("nccl.peer_start", "a kernel of sends and receives beyond nccl.kernel"),
      time_row<&C::peer_enqueue>("nccl.peer_enqueue", "host time of a send and a receive over the network"),
      time_row<&C::peer_message>("nccl.peer_message",
                                 "the proxy thread's time for a message sent and one received"),
      time_row<&C::multicast_start>("nccl.multicast_start", "NVLS beyond nccl.kernel"),
      rate_row<&C::low_latency_network>("nccl.low_latency_network", "most that LL gets out of a NIC"),
      rate_row<&C::peer_channel_rate>("nccl.peer_channel_rate", "one channel of a send"),
      rate_row<&C::copy_rate>("nccl.copy_rate",
                              "one thread block out of its buffer into the memory beside it"),
      share_row<&C::peer_network_efficiency>("nccl.peer_network_efficiency",
                                             "share of a NIC's rate that sends to many peers reach"),
      share_row<&C::multicast_efficiency>("nccl.multicast_efficiency",
                                          "share of the NVLinks' rate that NVLS reaches"),
      channel_row<&C::channel_rate, 0>("nccl.channel_rate", "data one thread block moves"),
      channel_row<&C::channel_rate, 1>("nccl.channel_rate", "data one thread block moves"),
      channel_row<&C::channel_rate, 2>("nccl.channel_rate", "data one thread block moves"),
  };
  add_steps<&C::ring_step>(rows, "nccl.ring_step", "a ring's step to the next GPU over NVLink");
  add_steps<&C::tree_step>(rows, "nccl.tree_step", "a tree's step to the next GPU over NVLink");
  add_steps<&C::pcie_step>(rows, "nccl.pcie_step", "a step to the next GPU over PCIe");
  add_steps<&C::network_step>(rows, "nccl.network_step",
                              "a step between nodes beyond the link's collective_latency");
  add_shares<&C::network_factor>(rows, "nccl.network_factor", 20,
                                 "multiples of the link's collective_latency in a step between nodes");
  add_shares<&C::link_efficiency>(rows, "nccl.link_efficiency", 1,
                                  "share of a link's rate that is data, inside a node");
  add_shares<&C::network_efficiency>(rows, "nccl.network_efficiency", 1,
                                     "share of a link's rate that is data, between nodes");
  return rows;
}

}  // namespace

const std::vector<ConstantOf<CollectiveCosts>>& collective_constants() {
  static const std::vector<CostRow> rows = make_rows();
  return rows;
}

CollectiveCosts costs_of(const ClusterSpec& cluster) {
  CollectiveCosts costs = costs_of(cluster.node.gpu.architecture);
  apply(cluster.calibration, collective_constants(), costs);
  return costs;
}

}  // namespace foretrain

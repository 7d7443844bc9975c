// Platforms and transfer graphs for tests and measurements of the chunk level: rings on a star and on an
// oversubscribed fat tree.
#pragma once

#include <cmath>
#include <numeric>
#include <vector>

#include "sim/base/random.hpp"
#include "sim/engine/chunk_simulator.hpp"

namespace foretrain::test {

/// Hosts under leaves, leaves under spines. Host h sends on link 2h and receives on link 2h + 1; then come,
/// per leaf and spine, up and down.
struct Platform {
  std::vector<ByteRate> capacities;
  std::uint32_t leaf_size;  ///< hosts of one leaf reach each other below the spines
  std::uint32_t spines;
};

/// One switch.
inline Platform star(std::uint32_t hosts, ByteRate nic) {
  return {std::vector<ByteRate>(2 * std::size_t{hosts}, nic), hosts, 0};
}

/// Leaves of 16 hosts, each with 16 / oversubscription links up.
inline Platform fat_tree(std::uint32_t hosts, std::uint32_t oversubscription, ByteRate nic) {
  const std::uint32_t spines = 16 / oversubscription;
  return {std::vector<ByteRate>(2 * (std::size_t{hosts} + (hosts + 15) / 16 * spines), nic), 16, spines};
}

/// Over the spine that the sender's number says.
inline std::vector<LinkId> route(const Platform& platform, std::uint32_t from, std::uint32_t to) {
  const std::uint32_t leaf = from / platform.leaf_size, far = to / platform.leaf_size;
  if (leaf == far) return {2 * from, 2 * to + 1};
  const auto hosts = static_cast<std::uint32_t>(platform.capacities.size() / 2);
  const std::uint32_t leaves = hosts / (platform.leaf_size + platform.spines),
                      first = leaves * platform.leaf_size, spine = from % platform.spines;
  return {2 * from, 2 * (first + leaf * platform.spines + spine),
          2 * (first + far * platform.spines + spine) + 1, 2 * to + 1};
}

/// Hosts in order.
inline std::vector<std::uint32_t> in_order(std::uint32_t hosts) {
  std::vector<std::uint32_t> order(hosts);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

/// Every neighbour on another leaf: the worst order for the core.
inline std::vector<std::uint32_t> across_leaves(std::uint32_t hosts) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < hosts; ++i) order.push_back((i % (hosts / 16)) * 16 + i / (hosts / 16));
  return order;
}

/// Ring all-reduce with one chunk per step: 2 (n - 1) messages of size / n from each rank; each needs the one
/// its sender received before. Rank i is host order[i].
inline TransferGraph ring_all_reduce(const Platform& platform, const std::vector<std::uint32_t>& order,
                                     double size, Time latency = {}) {
  TransferGraph graph;
  const auto ranks = static_cast<std::uint32_t>(order.size());
  graph.ranks = static_cast<int>(ranks);
  for (std::uint32_t i = 0; i < ranks; ++i) {
    const std::uint32_t next = (i + 1) % ranks;
    Connection connection;
    connection.from = i, connection.to = next, connection.transfers = 2 * (ranks - 1);
    connection.bytes = size / ranks, connection.latency = latency;
    const Need need{(i + ranks - 1) % ranks, 1};
    graph.add(connection, route(platform, order[i], order[next]), std::span(&need, 1));
  }
  return graph;
}

/// Uniform in [0, longest), the same for a seed.
inline std::vector<Time> jitter(std::uint32_t ranks, Time longest, std::uint64_t seed) {
  const CounterRandom random(seed);
  std::vector<Time> start;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    start.push_back(
        Time{static_cast<std::int64_t>(random.uniform(0, rank) * static_cast<double>(longest.count()))});
  }
  return start;
}

}  // namespace foretrain::test

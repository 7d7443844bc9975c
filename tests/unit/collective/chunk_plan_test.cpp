// A collective as connections and transfers: how many, over which links, with which bytes and latencies.
#include "sim/collective/chunk_plan.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace chunk_plan_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

using AlgorithmId = nccl::Algorithm;

ChunkPlan chunks_of(const OneJob& job, const CollectivePlan& plan) {
  ChunkPlan chunks = chunk_plan(job.communicator, plan);
  INFO(chunks.problem);
  REQUIRE(chunks.problem.empty());
  return chunks;
}

/// Bytes on the wire that all connections together carry.
double total_bytes(const TransferGraph& graph) {
  double sum = 0;
  for (const Connection& connection : graph.connections) sum += connection.bytes * connection.transfers;
  return sum;
}

}  // namespace

TEST_CASE("a ring all-reduce is one connection per rank and path, with 2(n-1) transfers each") {
  const OneJob job(star_cluster(5, {10e9}), 5, forced(AlgorithmId::ring, Protocol::simple));
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 50'000'000);
  const ChunkPlan chunks = chunks_of(job, plan);
  REQUIRE(job.communicator.paths(nccl::Pattern::ring).front().size() == 1);
  CHECK(chunks.graph.ranks == 5);
  REQUIRE(chunks.graph.connections.size() == 5);
  CHECK(chunks.graph.transfers() == 5 * 8);
  for (std::uint32_t c = 0; c < 5; ++c) {
    const Connection& connection = chunks.graph.connections[c];
    CHECK(connection.bytes == Approx(10e6));  // a fifth; Simple over a network that loses nothing
    REQUIRE(chunks.graph.needs_of(c).size() == 1);
    CHECK(chunks.graph.connections[chunks.graph.needs_of(c)[0].connection].to == connection.from);
    CHECK(chunks.graph.needs_of(c)[0].lag == 1);
  }
}

TEST_CASE("every connection ends on thread blocks of its own, beyond the cluster's links") {
  const OneJob job(star_cluster(4, {10e9}), 4, forced(AlgorithmId::ring, Protocol::simple));
  const CollectivePlan plan = job.plan(CollectiveOp::all_gather, 1 << 30);
  const ChunkPlan chunks = chunks_of(job, plan);
  const std::size_t links = job.cluster.links().size();
  CHECK(chunks.capacities.size() == links + chunks.graph.connections.size());
  std::set<LinkId> blocks;
  const double rate = plan.channels * of(job.communicator.costs().channel_rate, Protocol::simple).per_second;
  for (std::uint32_t c = 0; c < chunks.graph.connections.size(); ++c) {
    const auto route = chunks.graph.route(c);
    CHECK(std::ranges::count_if(route, [&](LinkId link) { return link >= links; }) == 1);
    CHECK(route.back() >= links);
    CHECK(chunks.capacities[route.back()].per_second == Approx(rate));
    blocks.insert(route.back());
  }
  CHECK(blocks.size() == chunks.graph.connections.size());
}

TEST_CASE("paths with different GPU orders are rings of their own") {
  const OneJob job(cube_mesh_node(), 8, forced(AlgorithmId::ring, Protocol::simple));
  const std::size_t paths = job.communicator.paths(nccl::Pattern::ring).front().size();
  REQUIRE(paths > 1);
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 30);
  const ChunkPlan chunks = chunks_of(job, plan);
  CHECK(chunks.graph.connections.size() == 8 * paths);
  CHECK(chunks.graph.transfers() == 8 * paths * 14);
  // 2(n-1) of n parts from every rank, at 90 % of NVLink
  CHECK(total_bytes(chunks.graph) == Approx(14 * static_cast<double>(plan.size.count) / 0.9));
}

TEST_CASE("a broadcast passes on pieces of one slice per channel") {
  const OneJob job(star_cluster(4, {10e9}), 4, forced(AlgorithmId::ring, Protocol::simple));
  const CollectivePlan plan = job.plan(CollectiveOp::broadcast, 100'000'000);
  const ChunkPlan chunks = chunks_of(job, plan);
  CHECK(chunks.graph.connections.size() == 3);
  const double pieces = std::ceil(100e6 / static_cast<double>(plan.chunk.slice() * plan.channels));
  for (const Connection& connection : chunks.graph.connections) {
    CHECK(connection.transfers == pieces);
    CHECK(connection.bytes * connection.transfers == Approx(100e6));
  }
}

TEST_CASE("a double tree has four connections per edge pair: up and down in either tree") {
  const OneJob job(star_cluster(8, {10e9}), 8, forced(AlgorithmId::tree, Protocol::simple));
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 100'000'000);
  const ChunkPlan chunks = chunks_of(job, plan);
  CHECK(chunks.graph.connections.size() == 2 * 2 * 7);
  CHECK(total_bytes(chunks.graph) == Approx(2 * 2 * 7 * 50e6));  // half of the message on each
}

TEST_CASE("NVLS goes over the switch: every GPU sends to it and receives from it") {
  const OneJob job(h100_cluster(1), 8, forced(AlgorithmId::nvls, Protocol::simple));
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 28);
  REQUIRE(plan.algorithm == AlgorithmId::nvls);
  const ChunkPlan chunks = chunks_of(job, plan);
  CHECK(chunks.graph.ranks == 10);  // the switch is two more: what adds and what multicasts
  for (const Connection& connection : chunks.graph.connections)
    CHECK((connection.from >= 8) != (connection.to >= 8));
}

TEST_CASE("algorithms without a schedule of chunks say so") {
  const OneJob job(h100_cluster(2), 16, forced(AlgorithmId::nvls_tree, Protocol::simple));
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 28);
  REQUIRE(plan.algorithm == AlgorithmId::nvls_tree);
  CHECK(chunk_plan(job.communicator, plan).problem == "NVLSTree exists as flows only");
}

TEST_CASE("alltoall is a connection for every ordered pair, sendrecv one per rank") {
  const OneJob job(nvlink_cluster(2, 2), 8);
  const CollectivePlan all = job.plan(CollectiveOp::alltoall, 80'000'000);
  const ChunkPlan pairs = chunks_of(job, all);
  CHECK(pairs.graph.connections.size() == 56);
  // Everyone's next rank comes first.
  for (std::size_t c = 0; c < 8; ++c)
    CHECK(pairs.graph.connections[c].to == (pairs.graph.connections[c].from + 1) % 8);
  for (const Connection& connection : pairs.graph.connections) {
    CHECK(connection.bytes * connection.transfers >= 10e6 * (1 - 1e-9));  // an eighth, and what the way loses
  }
  CHECK(chunks_of(job, job.plan(CollectiveOp::sendrecv, 80'000'000)).graph.connections.size() == 8);
  CHECK(chunks_of(job, job.plan(CollectiveOp::gather, 80'000'000)).graph.connections.size() == 7);
  CHECK(chunks_of(job, job.plan(CollectiveOp::scatter, 80'000'000)).graph.connections.size() == 7);
}

TEST_CASE("what would need too many lanes is refused") {
  const OneJob job(star_cluster(2100, {10e9}), 2100);
  CHECK_THAT(chunk_plan(job.communicator, job.plan(CollectiveOp::alltoall, 1 << 20)).problem,
             ContainsSubstring("more than 4000000 lanes"));
}

TEST_CASE("steps over the network have its latency, those inside a node NVLink's") {
  const OneJob job(nvlink_cluster(2, 2), 8, forced(AlgorithmId::ring, Protocol::ll));
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 20);
  const ChunkPlan chunks = chunks_of(job, plan);
  const CollectiveCosts& costs = job.communicator.costs();
  const double over_network =
      to_seconds(costs.default_network_step) * of(costs.network_factor, Protocol::ll) +
      to_seconds(of(costs.network_step, Protocol::ll));
  for (const Connection& connection : chunks.graph.connections) {
    const bool crosses = connection.from / 4 != connection.to / 4;
    CHECK(to_seconds(connection.latency) ==
          Approx(crosses ? over_network : to_seconds(of(costs.ring_step, Protocol::ll))));
  }
}

}  // namespace chunk_plan_test

// Tests of the chunk level: when messages end on links that serve in order and that share, what they wait
// for, and what is refused.
#include "sim/engine/chunk_simulator.hpp"

#include "tests/support/catch.hpp"

namespace chunk_simulator_test {

using namespace foretrain;

namespace {

constexpr Time us{1'000'000};

/// `transfers` messages of 1000 bytes: 1 us on a link of 1 GB/s.
Connection messages(std::uint32_t from, std::uint32_t to, std::uint32_t transfers = 1) {
  Connection connection;
  connection.from = from, connection.to = to, connection.transfers = transfers, connection.bytes = 1000;
  return connection;
}

struct Builder {
  TransferGraph graph;
  std::vector<ByteRate> links;
  explicit Builder(int ranks, std::vector<double> gigabytes_per_second = {1}) {
    graph.ranks = ranks;
    for (const double rate : gigabytes_per_second) links.push_back({rate * 1e9});
  }
  std::uint32_t add(const Connection& connection, std::initializer_list<LinkId> route,
                    std::initializer_list<Need> needs = {}) {
    return graph.add(connection, std::vector<LinkId>(route), std::vector<Need>(needs));
  }
  ChunkResult in_order(std::span<const Time> start = {}) const {
    return simulate_chunks(graph, links, {.start = start});
  }
  ChunkResult shared() const { return simulate_chunks(graph, links, {.sharing = LinkSharing::fair_share}); }
};

}  // namespace

TEST_CASE("a graph without connections ends at once, with or without ranks") {
  CHECK(Builder(0).in_order().end == Time::zero());
  const ChunkResult result = Builder(3).in_order();
  CHECK(result.finish == std::vector<Time>(3));
  CHECK(result.problem.empty());
}

TEST_CASE("a message alone takes its bytes over the slowest link, then its latency") {
  Builder world(2, {4, 1, 2});
  Connection message = messages(0, 1);
  message.latency = 3 * us;
  world.add(message, {0, 1, 2});
  for (const ChunkResult& result : {world.in_order(), world.shared()}) {
    CHECK(result.finish == std::vector<Time>{1 * us, 4 * us});
    CHECK(result.end == 4 * us);
    CHECK(result.transfers == 1);
  }
}

TEST_CASE("messages of a connection follow one another without a gap, and their latencies overlap") {
  Builder world(2);
  Connection message = messages(0, 1, 5);
  message.latency = 3 * us;
  world.add(message, {0});
  CHECK(world.in_order().end == 8 * us);
  CHECK(world.shared().end == 8 * us);
}

TEST_CASE("a sender busy with posting sends the next message later, the message itself is not delayed") {
  // Sent at 1, 4 and 7 us; the sender is done at 9 us.
  Builder world(2);
  Connection message = messages(0, 1, 3);
  message.overhead = 2 * us;
  world.add(message, {0});
  CHECK(world.in_order().finish == std::vector<Time>{9 * us, 7 * us});
}

TEST_CASE("a link serves two messages one after the other, or shares") {
  Builder world(3);
  world.add(messages(0, 2), {0});
  world.add(messages(1, 2), {0});
  CHECK(world.in_order().finish == std::vector<Time>{1 * us, 2 * us, 2 * us});
  CHECK(world.shared().finish == std::vector<Time>{2 * us, 2 * us, 2 * us});
}

TEST_CASE("who reaches a link first is served first, whatever the order of the connections") {
  Builder world(3);
  world.add(messages(0, 2), {0});
  world.add(messages(1, 2), {0});
  const std::vector<Time> start{us / 2, us / 4, Time::zero()};
  CHECK(world.in_order(start).finish == std::vector<Time>{2 * us + us / 4, us + us / 4, 2 * us + us / 4});
}

TEST_CASE("four slow senders do not hold each other up on a link as fast as all of them") {
  Builder world(5, {1, 1, 1, 1, 4});
  for (const std::uint32_t sender : {0u, 1u, 2u, 3u}) world.add(messages(sender, 4), {sender, 4});
  CHECK(world.in_order().end == 1 * us);
  CHECK(world.shared().end == 1 * us);
}

TEST_CASE("a message that waits at its second link does not keep its first") {
  // Both B-messages queue for link 1 until 2 us; the A-message goes over link 0 from 1 us on, when the first
  // byte of B has passed.
  Builder world(4, {1, 1});
  world.add(messages(0, 3), {1});
  world.add(messages(1, 3), {0, 1});
  world.add(messages(2, 3), {0});
  CHECK(world.in_order().finish == std::vector<Time>{1 * us, 2 * us, 2 * us, 2 * us});
}

TEST_CASE("a message starts when those it needs have arrived") {
  // 0 to 1, then 1 to 2: message k of the second needs message k of the first. Arrivals 2, 3, 4 us; the last
  // is on at 5 and in at 6.
  Builder world(3, {1, 1});
  Connection message = messages(0, 1, 3);
  message.latency = 1 * us;
  const std::uint32_t first = world.add(message, {0});
  message.from = 1, message.to = 2;
  world.add(message, {1}, {{first, 0}});
  CHECK(world.in_order().finish == std::vector<Time>{3 * us, 5 * us, 6 * us});
}

TEST_CASE("a lag looks back, a whole phase waits for the last, and beyond the last the last counts") {
  for (const auto& [lag, end] : std::vector<std::pair<std::int32_t, Time>>{
           {0, 6 * us}, {1, 5 * us}, {kWholePhase, 9 * us}, {-1, 7 * us}}) {
    CAPTURE(lag);
    Builder world(3, {1, 1});
    world.add(messages(0, 1, 4), {0});
    world.add(messages(1, 2, 5), {1}, {{0, lag}});
    CHECK(world.in_order().end == end);
    CHECK(world.shared().end == end);
  }
}

TEST_CASE("with two slots a sender waits until the receiver has passed on the message before the last") {
  // The second connection takes 2 us a message. Without slots the first is done at 6 us; with two, message k
  // waits for k - 2 of the other.
  Builder world(3, {1, 0.5});
  world.add(messages(0, 1, 6), {0}, {{1, 2}});
  world.add(messages(1, 2, 6), {1}, {{0, 0}});
  // Passed on at 3, 5, 7, 9, 11, 13 us; messages 2 to 5 are sent at 4, 6, 8, 10 us.
  CHECK(world.in_order().finish == std::vector<Time>{10 * us, 13 * us, 13 * us});
}

TEST_CASE("a need of a connection that sends nothing is no need") {
  Builder world(2);
  world.add(messages(0, 1, 0), {0});
  world.add(messages(0, 1, 2), {0}, {{0, 0}});
  CHECK(world.in_order().end == 2 * us);
}

TEST_CASE("messages without bytes or without links take only their latency") {
  Builder world(2);
  Connection empty = messages(0, 1, 3);
  empty.bytes = 0, empty.latency = 1 * us;
  world.add(empty, {0});
  Connection local = messages(1, 0, 3);
  world.add(local, {});
  CHECK(world.in_order().finish == std::vector<Time>{Time::zero(), 1 * us});
  CHECK(world.shared().finish == std::vector<Time>{Time::zero(), 1 * us});
}

TEST_CASE("a rank that starts late sends late, and its finish is its start at least") {
  Builder world(3);
  world.add(messages(0, 1), {0});
  const std::vector<Time> start{5 * us, 7 * us, 9 * us};
  CHECK(world.in_order(start).finish == std::vector<Time>{6 * us, 7 * us, 9 * us});
}

TEST_CASE("many messages ahead of a receiver that shares its link keep the order of service") {
  // Connection 2 needs all of connection 0, so none of its arrivals can be forgotten while connection 1 takes
  // every other turn.
  Builder world(4, {1, 1});
  world.add(messages(0, 3, 200), {0});
  world.add(messages(1, 3, 200), {0});
  world.add(messages(3, 2, 200), {1}, {{0, 0}, {1, 199}});
  const ChunkResult result = world.in_order();
  CHECK(result.finish[0] == 399 * us);
  CHECK(result.finish[1] == 400 * us);
}

TEST_CASE("needs that wait for each other are reported, not waited for") {
  Builder world(3);
  world.add(messages(0, 1, 4), {0}, {{1, 0}});
  world.add(messages(1, 2, 4), {0}, {{0, -1}});
  const ChunkResult result = world.in_order();
  CHECK(result.problem ==
        "deadlock: message 0 from rank 0 to rank 1 waits for message 0 from rank 1 to rank 2, which cannot "
        "start");
  CHECK(world.shared().problem == result.problem);
  CHECK(result.transfers == 0);
}

TEST_CASE("a circle that closes late is reported with what was done before") {
  Builder world(2);
  world.add(messages(0, 1, 10), {0}, {{1, 2}});
  world.add(messages(1, 0, 10), {0}, {{0, -3}});
  const ChunkResult result = world.in_order();
  CHECK(result.transfers == 2);
  CHECK(result.problem ==
        "deadlock: message 2 from rank 0 to rank 1 waits for message 0 from rank 1 to rank 0, which cannot "
        "start");
}

TEST_CASE("a link without bandwidth is reported by the ranks that need it") {
  Builder world(2, {0});
  world.add(messages(0, 1), {0});
  CHECK(world.in_order().problem == "rank 0 cannot send to rank 1: link 0 has no bandwidth");
  CHECK(world.shared().problem == "rank 0 cannot send to rank 1: link 0 has no bandwidth");
}

TEST_CASE("more transfers than allowed are refused before the first") {
  Builder world(2);
  world.add(messages(0, 1, 11), {0});
  const ChunkResult result = simulate_chunks(world.graph, world.links, {.most_transfers = 10});
  CHECK(result.problem == "11 transfers are more than the 10 a run may have");
  CHECK(result.transfers == 0);
}

TEST_CASE("what would take months stops at the horizon") {
  Builder world(3, {1e-9, 1e-9});
  Connection huge = messages(0, 1, 1000);
  huge.bytes = 1e9;
  world.add(huge, {0});
  CHECK(world.in_order().problem == "the last message would end more than 46 days from now");
  world.add(huge, {0});
  for (const ChunkResult& result : {world.in_order(), world.shared()})
    CHECK(result.problem == "the last message would end more than 46 days from now");
}

}  // namespace chunk_simulator_test

// The time of sends and receives: blocks, messages through proxies, sockets between pods.
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/unit/collective/timing_question.hpp"

namespace timing_of_peers_test {

using namespace foretrain;
using test::near;
using test::Question;
using test::round_costs;

namespace {

constexpr double us = 1e-6;

}  // namespace

TEST_CASE("the blocks of a message move as many channels as it has, shared with the other peers") {
  const CollectiveCosts costs = round_costs();
  PeerSend send;
  send.bytes = 4 << 20;
  send.shape = {4, 1 << 20, 512 << 10, Protocol::simple}, send.channels = 8, send.peers = 1;
  CHECK(peer_rate(costs, send).per_second == Approx(40e9));
  send.peers = 2;  // two peers, four channels each
  CHECK(peer_rate(costs, send).per_second == Approx(40e9));
  send.peers = 8;  // 32 parts on 8 blocks
  CHECK(peer_rate(costs, send).per_second == Approx(10e9));
  send.peers = 1, send.shape.protocol = Protocol::ll;
  CHECK(peer_rate(costs, send).per_second == Approx(4 * 1e9));
}

TEST_CASE(
    "in a node sends take one hop, the slower of links and blocks, and a second copy of the last chunk") {
  Question q;
  q.stay_in_node();
  q.in.op = CollectiveOp::sendrecv;
  PeerSend send;
  send.bytes = 8e6, send.channels = 8;
  send.shape = {4, 2'000'000, 500'000, Protocol::simple};
  const CollectiveTiming blocks = time_of_peers(q.in, send);
  CHECK(near(blocks.start + blocks.steps, (5 + 3 + 3) * us));
  CHECK(blocks.channel_bound);
  CHECK(near(blocks.data, 8e6 / 40e9));
  CHECK(near(blocks.fill, 0.5e6 / 10e9));
  q.in.inside_seconds_per_byte = 1 / 12e9;
  CHECK_FALSE(time_of_peers(q.in, send).channel_bound);
  CHECK(near(time_of_peers(q.in, send).data, 8e6 / 12e9));
  send.direct = true;  // ranks of one process: written where it is wanted
  CHECK(time_of_peers(q.in, send).fill == Time::zero());
  send.direct = false,
  send.shape.protocol = Protocol::ll;  // LL's step is 1 us, and lines are taken as they come
  CHECK(near(time_of_peers(q.in, send).latency(), (5 + 3 + 1) * us));
}

TEST_CASE("the fullest part of a message says how long it takes") {
  Question q;
  q.stay_in_node();
  PeerSend send;
  send.bytes = 3e6, send.channels = 8;
  send.shape = {2, 2'000'000, 500'000, Protocol::simple};  // 2 MB and 1 MB
  CHECK(near(time_of_peers(q.in, send).data, 2e6 / 10e9));
}

TEST_CASE("a rank's own part waits where blocks serve one peer after the other") {
  Question q;
  q.stay_in_node();
  q.costs.copy_rate = {20e9};
  PeerSend send;
  send.direct = true, send.peers = 1, send.channels = 8;
  send.bytes = send.own = 8e6, send.shape = {8, 1'000'000, 500'000, Protocol::simple};
  CHECK(near(time_of_peers(q.in, send).fill, 8e6 / (8 * 20e9)));
  send.shape.parts = 4, send.shape.part = 2'000'000;  // four blocks send, the other four copy
  CHECK(time_of_peers(q.in, send).fill == Time::zero());
  send.shape.parts = 6;  // twelve parts on eight blocks
  CHECK(near(time_of_peers(q.in, send).fill, 0.5 * 8e6 / (6 * 20e9)));
}

TEST_CASE("work handed over channel by channel lengthens a kernel with every channel but the first") {
  Question q;
  q.stay_in_node();
  q.costs.channel_start = microseconds(2);
  const Time together = q.time().start;
  q.in.by_channel = true, q.in.run.channels = 6;
  CHECK(near(q.time().start - together, 5 * 2 * us));
  PeerSend send;
  send.bytes = 4e6, send.channels = 8, send.peers = 3, send.shape = {2, 2'000'000, 500'000, Protocol::simple};
  CHECK(near(time_of_peers(q.in, send).start, (5 + 3 + 5 * 2) * us));  // six parts
}

TEST_CASE("over the network every message costs the proxy thread its time, an injected one more") {
  Question q;
  q.costs.peer_message = microseconds(4);
  q.costs.network_step = {Time::zero(), Time::zero(),
                          microseconds(20)};  // of chunks of a ring, not of a send
  q.network.collective_latency = microseconds(6);
  q.network.inject_limit = {128}, q.network.inject_latency = microseconds(13);
  PeerSend send;
  send.peers = 7, send.remote = 4, send.channels = 4, send.direct = true;
  send.bytes = 129, send.shape = {1, 129, 32768, Protocol::simple};
  CHECK(near(peer_step(q.in, send), (2 * 6 + 4 * 4) * us));
  send.bytes = 128;
  CHECK(near(peer_step(q.in, send), (2 * 6 + 4 * (4 + 13)) * us));
  q.network.eager_limit = {8192}, q.network.rendezvous_latency = microseconds(3);
  send.bytes = 8193;
  CHECK(near(peer_step(q.in, send), (2 * 6 + 3 + 4 * 4) * us));
  q.network.message_gap = microseconds(5), q.network.crowded_message_gap = microseconds(9);
  CHECK(near(peer_step(q.in, send), (2 * 6 + 3 + 4 * (4 + 5)) * us));
  q.network.crowded_nodes = 1;
  CHECK(near(peer_step(q.in, send), (2 * 6 + 3 + 4 * (4 + 9)) * us));
}

TEST_CASE("between pods one thread of a rank serves all its sockets, and a step is one over TCP") {
  Question q;
  q.costs.socket_rate = {2e9}, q.costs.socket_step = microseconds(90);
  q.in.sockets_of_pods = true, q.in.ranks = q.in.nodes = 4, q.in.ranks_per_node = 1;
  q.in.protocol = Protocol::ll;
  CHECK(near(network_step(q.in, 8), 90 * us));
  q.network.collective_latency = microseconds(100);
  CHECK(near(network_step(q.in, 8), 100 * us));
  q.in.protocol = Protocol::simple, q.in.run.channels = 8, q.in.bytes = 1e9;  // blocks: 32 GB/s
  const CollectiveTiming time = q.time();
  CHECK(time.channel_bound);
  CHECK(near(time.data, 1.5 * 1e9 / 2e9));  // 2 x 3/4 bytes on an edge
  PeerSend send;
  send.bytes = 1e9, send.peers = send.remote = 1, send.channels = 8,
  send.shape = {8, 125'000'000, 131072, Protocol::simple};
  CHECK(near(time_of_peers(q.in, send).data, 1e9 / 2e9));
}

}  // namespace timing_of_peers_test

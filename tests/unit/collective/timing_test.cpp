// The time of one collective: every algorithm's formula, derived beside the number.
#include "sim/collective/timing.hpp"

#include <algorithm>
#include <cmath>

#include "tests/support/catch.hpp"
#include "tests/unit/collective/timing_question.hpp"

namespace timing_test {

using namespace foretrain;
using test::near;
using test::Question;

namespace {

using AlgorithmId = nccl::Algorithm;

constexpr double us = 1e-6;

}  // namespace

TEST_CASE("one rank takes its kernel and nothing else") {
  Question q;
  q.in.ranks = q.in.nodes = q.in.ranks_per_node = 1;
  CHECK(q.time().total() == microseconds(5));
  CHECK(time_of_peers(q.in, {}).total() == microseconds(5));
}

TEST_CASE("a small ring all-reduce takes 2(n-1) steps, two per node of them over the network") {
  Question q;
  q.in.bytes = 0;
  q.in.protocol = Protocol::ll;
  // 14 steps: 2 x 2 nodes over the network at 10 us, 10 over NVLink at 1 us; kernel 5 us.
  CHECK(near(q.time().total(), (5 + 4 * 10 + 10 * 1) * us));
  CHECK(q.time().network_steps == 4);
  CHECK(q.time().inner_steps == 10);
  q.in.op = CollectiveOp::all_gather;  // half of both
  CHECK(near(q.time().total(), (5 + 2 * 10 + 5 * 1) * us));
  q.in.nvlink = false;  // PCIe: 4 us
  CHECK(near(q.time().total(), (5 + 2 * 10 + 5 * 4) * us));
}

TEST_CASE("two single-GPU nodes have no more network steps than steps") {
  Question q;
  q.in.bytes = 0, q.in.ranks = 2, q.in.ranks_per_node = 1;
  q.in.protocol = Protocol::ll;
  CHECK(near(q.time().total(), (5 + 2 * 10) * us));
}

TEST_CASE("Simple starts later on NVLink, not on PCIe or between single GPUs") {
  Question q;
  q.in.bytes = 0;
  CHECK(q.time().start == microseconds(5 + 7));
  q.in.nvlink = false;
  CHECK(q.time().start == microseconds(5));
  q.in.nvlink = true, q.in.ranks_per_node = 1, q.in.nodes = 8;
  CHECK(q.time().start == microseconds(5));
}

TEST_CASE(
    "a large ring all-reduce in one node takes start and 2(n-1)/n S/B, its steps hide behind the data") {
  Question q;
  q.stay_in_node();
  q.in.inside_seconds_per_byte = 1.75 / 10e9;  // 2 x 7/8 bytes on an edge of 10 GB/s; the blocks: 1.75 / 8e9
  const CollectiveTiming time = q.time();
  CHECK(time.channel_bound);
  CHECK(near(time.data, 8e6 * 1.75 / 8e9));  // 2 channels of 4 GB/s
  // All hops are alike: walking around the ring takes the steps and the same data.
  CHECK(near(time.steps, 14 * 3 * us));
  q.in.run.channels = 4;
  CHECK_FALSE(q.time().channel_bound);
  CHECK(near(q.time().data, 8e6 * 1.75 / 10e9));
}

TEST_CASE(
    "in a ring's last step a rank only copies what came in, and Simple's blocks do so at their own rate") {
  Question q;
  q.stay_in_node();
  q.in.inside_seconds_per_byte = 1.75 / 5e9;
  q.costs.copy_rate = {10e9};
  // 14 of 15 steps move an eighth of the message over an edge of 5 GB/s, the last one goes at 2 x 10 GB/s.
  CHECK(near(q.time().data, 1e6 * 14 / 5e9));
  CHECK(near(q.time().fill, 1e6 / 20e9));
  CHECK(q.time().last == q.time().fill);
  q.in.staged = true;  // out of host memory, as fast as it got there
  CHECK(near(q.time().fill, 1e6 / 5e9));
  q.in.staged = false, q.in.protocol = Protocol::ll128;
  CHECK(q.time().last == Time::zero());
}

/// Nothing takes time but the proxy and ten microseconds between nodes.
void keep_only_messages(Question& q) {
  q.costs.channel_rate = {ByteRate{1e15}, ByteRate{1e15}, ByteRate{1e15}};
  q.in.inside_seconds_per_byte = q.in.between_seconds_per_byte = 1e-15;
  q.in.run.channels = 1;
}

TEST_CASE("a proxy sends its messages one after the other: a gap per channel and slot in every step") {
  Question q;
  keep_only_messages(q);
  q.in.protocol = Protocol::ll, q.in.bytes = 1024;
  const auto steps = [&] { return to_seconds(q.time().steps) / us; };
  CHECK(steps() == Approx(4 * 10 + 10 * 1));  // four crossings, ten steps inside nodes
  q.network.message_gap = microseconds(50);
  CHECK(steps() == Approx(10 + 13 * 50));  // one crossing, then the chain stays on the edge
  q.in.run.channels = 4;
  CHECK(steps() == Approx(10 + 13 * 200));
  q.in.proxy_share = 0.5;  // every other ring is another rank's
  CHECK(steps() == Approx(10 + 13 * 100));
  q.in.bytes = 4 * 8 * 65536;  // 64 KiB of data a step and channel fill two of LL's slots
  CHECK(steps() == Approx(10 + 13 * 200).epsilon(1e-4));
  q.network.crowded_nodes = 1;  // without a gap of its own
  CHECK(steps() == Approx(10 + 13 * 200).epsilon(1e-4));
  q.network.crowded_message_gap = microseconds(100);
  CHECK(steps() == Approx(10 + 13 * 400).epsilon(1e-4));
  q.network.crowded_nodes = 2;
  CHECK(steps() == Approx(10 + 13 * 200).epsilon(1e-4));
}

TEST_CASE("Simple sends a step in two slices, but none below 32 KiB") {
  Question q;
  keep_only_messages(q);
  q.network.message_gap = microseconds(1000);
  const auto messages = [&](double step_bytes) {
    q.in.bytes = 8 * step_bytes;
    return (to_seconds(q.time().steps) / us - 20) / 13 / 1000;  // Simple: twice the network's ten
  };
  CHECK(messages(16 * 1024) == Approx(1).epsilon(1e-4));
  CHECK(messages(64 * 1024) == Approx(2).epsilon(1e-4));
  CHECK(messages(3 * 1048576) == Approx(6).epsilon(1e-4));  // three chunks of 1 MiB
}

TEST_CASE("TCP connections have a limit of their own: channels times flows times a flow's bandwidth") {
  Question q;
  q.in.between_seconds_per_byte = 1.75 / 5e9;
  q.in.flows = 1;
  const double wire = to_seconds(q.time().data);
  q.network.flow_bandwidth = {1e9};  // two channels carry 2 GB/s of the wire's 5
  CHECK(near(q.time().data, 8e6 * 1.75 / 2e9));
  q.in.flows = 2;
  CHECK(near(q.time().data, 8e6 * 1.75 / 4e9));
  q.network.collective_efficiency = 0.5;  // of which half is the message's
  CHECK(near(q.time().data, 8e6 * 1.75 / 2e9));
  q.in.flows = 16;
  CHECK(near(q.time().data, wire));
}

TEST_CASE("a chain of two ranks has one step, which takes its link's time, and nothing for no bytes") {
  Question q;
  q.stay_in_node();
  q.in.op = CollectiveOp::broadcast;
  q.in.ranks = q.in.ranks_per_node = 2;
  q.in.inside_seconds_per_byte = 1 / 5e9;
  CHECK(q.time().inner_steps == 1);
  CHECK(near(q.time().data, 8e6 / 5e9));
  q.in.bytes = 0;
  CHECK(near(q.time().total(), (5 + 7 + 3) * us));
}

TEST_CASE("a piece on its way through a tree meets half of what a link carries in all") {
  Question q;
  q.stay_in_node();
  q.in.algorithm = AlgorithmId::tree;
  q.in.inside_seconds_per_byte = 1 / 2e9;  // of which each of both trees has 4 GB/s, below the blocks' 8
  CHECK(near(q.time().fill, 1e6 * (14 / 4e9 - 1 / 2e9)));
}

TEST_CASE("a ring over a slow network: the steps inside nodes hide behind the slow edge") {
  Question q;
  q.in.between_seconds_per_byte = 1.75 / 1e9;
  const CollectiveTiming time = q.time();
  const double data = 8e6 * 1.75 / 1e9;  // 14 ms
  CHECK(near(time.data, data));
  // Walking: 4 of 14 hops over the network, each with 1/14 of the data; 10 inside, at the blocks' 8 GB/s.
  const double walking = data * 4 / 14 + 8e6 * 1.75 / 8e9 * 10 / 14;
  const double steps = 4 * 2 * 10 * us + 10 * 3 * us;  // 110 us against a head start of 8.75 ms
  CHECK(near(time.steps, std::max(0.0, steps + walking - data)));
  CHECK(time.steps == Time::zero());
}

TEST_CASE("a chain pays its hops, the filling of its pipeline and every byte once") {
  Question q;
  q.stay_in_node();
  q.in.op = CollectiveOp::broadcast;
  q.in.inside_seconds_per_byte = 1 / 5e9;
  const CollectiveTiming time = q.time();
  CHECK(near(time.start, (5 + 7) * us));
  CHECK(near(time.steps, 7 * 3 * us));
  CHECK(near(time.data, 8e6 / 5e9));
  // Slices of at most 512 KiB on two channels: 8 equal pieces, over 7 hops of which the last is in `data`.
  CHECK(near(time.fill, 1e6 * 6 / 5e9));
  q.in.op = CollectiveOp::reduce;
  CHECK(q.time().total() == time.total());
}

TEST_CASE(
    "a chain between nodes crosses the network once per node, since the root stands somewhere in its node, "
    "or one less often") {
  Question q;
  q.in.op = CollectiveOp::broadcast;
  q.in.bytes = 0, q.in.protocol = Protocol::ll128;
  CHECK(near(q.time().total(), (5 + 5 * 2 + 2 * 15) * us));
  q.in.ranks = q.in.nodes = 4, q.in.ranks_per_node = 1;
  CHECK(near(q.time().total(), (5 + 3 * 15) * us));
}

TEST_CASE("a small tree goes up and down: 2(g-1) steps in a node and 2 log2 of the nodes between them") {
  Question q;
  q.in.algorithm = AlgorithmId::tree;
  q.in.bytes = 0, q.in.protocol = Protocol::ll;
  CHECK(near(q.time().total(), (5 + 6 * 0.5 + 2 * 10) * us));
  for (const auto& [nodes, levels] : {std::pair{1, 0}, {2, 1}, {3, 1}, {4, 2}, {7, 2}, {8, 3}, {1024, 10}}) {
    q.in.nodes = nodes, q.in.ranks = 4 * nodes;
    CHECK(q.time().network_steps == 2 * levels);
    CHECK(near(q.time().total(), (5 + 6 * 0.5 + 2 * levels * 10) * us));
  }
}

TEST_CASE("a large tree in one node takes every byte once over its widest-used edge") {
  Question q;
  q.stay_in_node();
  q.in.algorithm = AlgorithmId::tree;
  q.in.inside_seconds_per_byte = 1 / 5e9;
  const CollectiveTiming time = q.time();
  CHECK(near(time.start, (5 + 7) * us));
  CHECK(near(time.steps, 14 * 2.5 * us));
  CHECK(near(time.data, 8e6 / 5e9));
  // 14 hops at the blocks' 8 GB/s (half of what the link carries in all would be 10); the last one, at 5
  // GB/s, is in `data`.
  CHECK(near(time.fill,
             1e6 * (14 / 8e9 - 1 / 5e9)));  // 8 equal pieces of at most 512 KiB on each of two channels
}

TEST_CASE(
    "a piece in a tree between nodes meets the pieces around it, a lone one only half of what the busiest "
    "NIC carries") {
  Question q;
  q.in.algorithm = AlgorithmId::tree;
  q.in.between_seconds_per_byte = 1 / 2e9;
  const CollectiveTiming time = q.time();
  const double piece = 1e6, inside = 1 / 8e9,
               nic = 1 / 2e9;  // 8 equal pieces of at most 512 KiB on two channels; blocks 8 GB/s
  CHECK(near(time.data, 8e6 * nic));
  CHECK(near(time.fill, piece * (6 * inside + 2 * nic - nic)));
  q.in.bytes = 1e6;  // one piece
  CHECK(near(q.time().fill, 1e6 * (6 * inside + 2 * nic / 2 - nic)));
}

TEST_CASE("NVLS starts late and then fills one piece on its way to the switch and back") {
  Question q;
  q.stay_in_node();
  q.in.algorithm = AlgorithmId::nvls;
  q.in.inside_seconds_per_byte = 1.125 / 100e9;
  q.in.bytes = 64.0 * (1 << 20);
  const CollectiveTiming time = q.time();
  CHECK(near(time.start, (5 + 40) * us));
  CHECK(time.steps == Time::zero());
  CHECK(near(time.data, q.in.bytes * 1.125 / 100e9));
  // Eight heads, two channels, chunks of 1 MiB: four times through the switch.
  CHECK(multicast_pieces(q.in) == 4);
  // A head's links carry 1 + 1/8 of the message. The first piece goes up; the last one comes back behind 1 -
  // 1/8 of a piece.
  CHECK(near(time.fill, q.in.bytes / 4 * (2 - 1.0 / 8) / 100e9));
  q.in.bytes /= 8;  // one piece: back come the sums, and the head's own share once more
  CHECK(multicast_pieces(q.in) == 1);
  CHECK(near(q.time().fill, q.in.bytes * (1 + 1.0 / 8) / 100e9));
}

TEST_CASE("NVLSTree adds a tree of nodes: both ways for all_reduce, one way otherwise") {
  Question q;
  q.in.algorithm = AlgorithmId::nvls_tree;
  q.in.nodes = 4, q.in.ranks = 16;
  CHECK(q.time().network_steps == 4);
  CHECK(near(q.time().steps, 4 * 20 * us));
  q.in.op = CollectiveOp::all_gather;
  CHECK(q.time().network_steps == 2);
}

TEST_CASE("CollNet crosses the network to the switch and back, PAT log2 of the nodes upwards") {
  Question q;
  q.in.bytes = 0, q.in.protocol = Protocol::ll;
  q.in.algorithm = AlgorithmId::collnet_chain;
  CHECK(near(q.time().total(), (5 + 6 * 0.5 + 2 * 10) * us));
  q.in.algorithm = AlgorithmId::pat, q.in.op = CollectiveOp::all_gather;
  for (const auto& [nodes, rounds] : {std::pair{2, 1}, {3, 2}, {4, 2}, {5, 3}}) {
    q.in.nodes = nodes, q.in.ranks = 4 * nodes;
    CHECK(near(q.time().total(), (5 + rounds * 10) * us));
  }
}

TEST_CASE("what a rank passes on is a slice, a block's line, or all there is") {
  Question q;  // 4 MB per channel
  CHECK(forwarding_unit(q.in) == 524288);
  q.in.protocol = Protocol::ll;
  CHECK(forwarding_unit(q.in) == 512 * 8);  // a line of 8 bytes of data per thread
  q.in.protocol = Protocol::ll128;
  CHECK(forwarding_unit(q.in) == 640 * 15);
  for (const Protocol protocol : kProtocols) {
    q.in.protocol = protocol, q.in.bytes = 200;
    CHECK(forwarding_unit(q.in) == 100);
  }
}

TEST_CASE("the network's own latency comes before the default, with a handshake for what is not eager") {
  Question q;
  q.in.protocol = Protocol::ll;
  CHECK(network_step(q.in, 8) == microseconds(10));
  q.network.collective_latency = microseconds(6);
  CHECK(network_step(q.in, 8) == microseconds(6));
  q.network.eager_limit = {8192}, q.network.rendezvous_latency = microseconds(3);
  CHECK(network_step(q.in, 4096) == microseconds(6));  // LL doubles it: 8192 on the wire
  CHECK(network_step(q.in, 4097) == microseconds(6 + 3));
  q.in.protocol = Protocol::ll128;  // 128 bytes for 120
  CHECK(network_step(q.in, 7680) == microseconds(9));
  CHECK(network_step(q.in, 7681) == microseconds(9 + 3));
  q.in.protocol = Protocol::simple;
  CHECK(network_step(q.in, 8192) == microseconds(12));
  CHECK(network_step(q.in, 8193) == microseconds(12 + 3));
  q.in.network = nullptr;
  CHECK(network_step(q.in, 1e9) == Time::zero());
}

TEST_CASE("a step between nodes has a part of its own beside the network's latency") {
  Question q;
  q.costs.network_step = {Time::zero(), microseconds(1), microseconds(20)};
  q.network.collective_latency = microseconds(6);
  CHECK(network_step(q.in, 8) == microseconds(2 * 6 + 20));
  q.in.protocol = Protocol::ll128;
  CHECK(network_step(q.in, 8) == microseconds(1.5 * 6 + 1));
}

TEST_CASE("a message that asks for nothing and is not small is copied into the GPU by the CPU") {
  Question q;
  q.in.protocol = Protocol::ll;
  q.network.collective_latency = microseconds(6);
  q.network.copy_limit = {4096}, q.network.copy_latency = microseconds(2), q.network.copy_rate = {1e9};
  q.network.eager_limit = {18433}, q.network.rendezvous_latency = microseconds(3);
  CHECK(near(network_step(q.in, 2048), 6e-6));                    // 4096 on the wire
  CHECK(near(network_step(q.in, 4096), 6e-6 + 2e-6 + 8192e-9));   // copied
  CHECK(near(network_step(q.in, 9216), 6e-6 + 2e-6 + 18432e-9));  // the largest that is
  CHECK(near(network_step(q.in, 9217), 6e-6 + 3e-6));             // written by the NIC, after a handshake
  q.network.copy_rate = {};
  CHECK(near(network_step(q.in, 4096), 6e-6 + 2e-6));
}

TEST_CASE("a handshake keeps a proxy busy, unless it matches messages for longer") {
  Question q;
  keep_only_messages(q);
  q.in.protocol = Protocol::ll, q.in.bytes = 8 * 4096;  // 8 KiB on the wire to the next rank
  const auto steps = [&] { return to_seconds(q.time().steps) / us; };
  q.network.rendezvous_gap = microseconds(50), q.network.eager_limit = {8192};
  CHECK(steps() == Approx(4 * 10 + 10 * 1).epsilon(1e-4));
  q.network.eager_limit = {8191};
  CHECK(steps() == Approx(10 + 13 * 50).epsilon(1e-4));
  q.network.message_gap = microseconds(60);
  CHECK(steps() == Approx(10 + 13 * 60).epsilon(1e-4));
}

TEST_CASE("the proxies of a tree hand over message by message") {
  Question q;
  q.in.algorithm = nccl::Algorithm::tree;
  q.in.bytes = 64e6;
  const Time before = q.time().data;
  q.network.eager_limit = {4096}, q.network.rendezvous_gap = microseconds(100);
  // Two channels of 32 MB in 62 slices of 512 KiB: one edge of two nodes, two channels at one proxy.
  CHECK(near(q.time().data, (2 * 62 - 1) * 100e-6));
  CHECK(q.time().data > before);
}

TEST_CASE("a relay adds its NVLink to every step between nodes") {
  Question q;
  const Time without = network_step(q.in, 8);
  q.in.relayed = microseconds(2);
  CHECK(network_step(q.in, 8) == without + microseconds(2));
}

}  // namespace timing_test

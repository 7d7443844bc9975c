// From the channels of a search to those that run, for collectives and for peers (docs/sources/nccl_tuning.md
// 4, docs/sources/nccl_peers.md 3.1).
#include "sim/collective/nccl/channel_count.hpp"

#include "tests/unit/collective/nccl/tuning_question.hpp"

namespace channel_count_test {

using namespace foretrain;
using namespace foretrain::nccl;
using namespace foretrain::test;

namespace {

int running(const TuningInput& input, int least = 0, int most = 0) {
  return running_channels({input.job, input.ring, input.collnet_direct, least, most});
}

/// Rings of `intra` GB/s on two nodes.
TuningInput rings(int channels, double intra, Version version, int capability) {
  TuningInput input = nodes_of(8, 2, version, capability, channels);
  input.ring.bw_intra = intra;
  input.collnet_direct.channels = 0;
  return input;
}

auto running_of(int channels, double intra, int capability, int nodes = 2) {
  return [=](const Version& v) -> double {
    TuningInput input = rings(channels, intra, v, capability);
    input.job.nodes = nodes;
    return running(input);
  };
}

/// Channels that one peer gets, of `running` in all.
auto per_peer(PeersOfCommunicator peers, int running) {
  return [=](const Version& v) -> double { return p2p_channels(v, running, peers).per_peer; };
}

}  // namespace

TEST_CASE("every ring of the search runs twice since NCCL 2.5, up to 32 channels, 64 since 2.25") {
  check_versions({{{2, 4, 0}, 12}, {{2, 5, 0}, 24}}, running_of(12, 20, 80));
  check_versions({{{2, 4, 0}, 20}, {{2, 5, 0}, 32}, {{2, 25, 0}, 40}}, running_of(20, 20, 80));
  check_versions({{{2, 4, 0}, 32}, {{2, 25, 0}, 64}}, running_of(40, 20, 80));
}

TEST_CASE("Hopper doubles once more where a ring over nodes has more than 45 GB/s, if there is room") {
  check_versions({{{2, 5, 0}, 16}, {{2, 18, 0}, 32}, {{2, 20, 0}, 16}}, running_of(8, 48, 90));
  check_versions({{{2, 5, 0}, 14}, {{2, 18, 0}, 28}}, running_of(7, 48, 90));
  check_versions({{{2, 5, 0}, 18}}, running_of(9, 48, 90));
  check_versions({{{2, 5, 0}, 14}}, running_of(7, 45, 90));
  check_versions({{{2, 5, 0}, 14}}, running_of(7, 48, 89));
  check_versions({{{2, 5, 0}, 14}}, running_of(7, 48, 90, 1));
}

TEST_CASE("CollNet runs half as many channels more where a node is faster than its network") {
  TuningInput input = nodes_of(8, 2, {2, 17, 1}, 80, 8);
  CHECK(running(input) == 24);
  input.collnet_direct.bw_inter = 40;
  CHECK(running(input) == 16);
  input = nodes_of(1, 2, {2, 17, 1}, 80, 8);  // nobody to gather from
  CHECK(running(input) == 16);
  CHECK(running(nodes_of(8, 2, {2, 17, 1}, 80, 12)) == 32);
}

TEST_CASE("the user's limits clip what runs, the least one last") {
  const TuningInput input = nodes_of(8, 1, {2, 20, 5}, 80, 8);
  TuningInput plain = input;
  plain.collnet_direct.channels = 0;
  CHECK(running(plain) == 16);
  CHECK(running(plain, 0, 6) == 6);
  CHECK(running(plain, 20) == 20);
  CHECK(running(plain, 20, 6) == 20);
  CHECK(running(plain, 100) == 32);
  plain.ring.channels = 0;
  CHECK(running(plain) == 1);
}

TEST_CASE("NVLS has channels of its own: 16 on Hopper, 24 and 32 on Blackwell since NCCL 2.27") {
  const auto channels = [](int capability, int nodes) {
    return [=](const Version& v) -> double {
      return nvls_running_channels(nodes_of(8, nodes, v, capability).job);
    };
  };
  check_versions({{{2, 5, 0}, 0}}, channels(89, 1));
  check_versions({{{2, 5, 0}, 0}, {{2, 17, 0}, 16}}, channels(90, 2));
  check_versions({{{2, 5, 0}, 0}, {{2, 17, 0}, 16}, {{2, 27, 0}, 24}}, channels(100, 1));
  check_versions({{{2, 5, 0}, 0}, {{2, 17, 0}, 16}, {{2, 27, 0}, 32}}, channels(100, 2));
}

TEST_CASE("sends and receives run the next power of two of channels") {
  for (const auto& [running, total] : {std::pair{1, 1}, {2, 2}, {12, 16}, {24, 32}, {32, 32}}) {
    CHECK(p2p_channels({2, 20, 5}, running, {8, 1, 12, true}).total == total);
  }
}

TEST_CASE("a peer gets two channels for each NVLink of the narrowest way, two over PCIe") {
  check_versions({{{2, 7, 0}, 2}}, per_peer({8, 1, 1, true}, 24));
  check_versions({{{2, 7, 0}, 8}}, per_peer({8, 1, 3, true}, 24));
  check_versions({{{2, 7, 0}, 32}}, per_peer({8, 1, 12, true}, 24));  // never more than all
  check_versions({{{2, 7, 0}, 2}}, per_peer({8, 1, 3, false}, 24));
  check_versions({{{2, 7, 0}, 2}}, per_peer({8, 1, 0, false}, 24));
  check_versions({{{2, 7, 0}, 1}}, per_peer({8, 1, 0, false}, 1));
}

TEST_CASE("a peer on another node gets one channel, two since NCCL 2.12, one in large jobs since 2.20") {
  check_versions({{{2, 7, 0}, 1}, {{2, 12, 0}, 2}}, per_peer({8, 2, 12, true}, 8));
  check_versions({{{2, 7, 0}, 1}, {{2, 12, 0}, 2}}, per_peer({16, 2, 12, true}, 8));  // 2 * 16 = 4 * 8
  check_versions({{{2, 7, 0}, 1}, {{2, 12, 0}, 2}, {{2, 20, 0}, 1}}, per_peer({17, 3, 12, true}, 8));
}

}  // namespace channel_count_test

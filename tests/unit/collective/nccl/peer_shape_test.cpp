// Parts of a message to a peer, by version of NCCL: each figure from its rule (docs/sources/nccl_peers.md
// 3.1).
#include "sim/collective/nccl/peer_shape.hpp"

#include "tests/unit/collective/nccl/tuning_question.hpp"

namespace peer_shape_test {

using namespace foretrain;
using namespace foretrain::nccl;

namespace {

constexpr std::int64_t kKib = 1024, kMib = 1024 * kKib;

/// One node of GPUs on NVLink with 32 channels, all of which a peer may have.
PeerSetting node_of(int ranks, Version version) { return {version, ranks, 1, 32, 32, PeerPath::nvlink, 0}; }

/// KiB of the largest message, below 1 GiB, that stays one part.
double last_of_one_part(const PeerSetting& setting) {
  std::int64_t low = 1, high = 1024 * kMib;
  while (low + 1 < high) {
    const std::int64_t middle = (low + high) / 2;
    (peer_shape(setting, middle).parts > 1 ? high : low) = middle;
  }
  return static_cast<double>(low) / kKib;
}

}  // namespace

TEST_CASE("up to NCCL 2.8 a message has one channel for every 2 MiB") {
  const PeerSetting old = node_of(2, {2, 7, 3});
  CHECK(peer_shape(old, 96).parts == 1);
  CHECK(peer_shape(old, 2 * kMib).parts == 1);
  CHECK(peer_shape(old, 3 * kMib).parts == 2);
  CHECK(peer_shape(old, 3 * kMib).part == 2 * kMib);
  // 32 channels of 2 MiB are 64 MiB; what is more makes parts of two steps
  CHECK(peer_shape(old, 64 * kMib).parts == 32);
  CHECK(peer_shape(old, 65 * kMib).part == 4 * kMib);
  CHECK(peer_shape(old, 96).protocol == Protocol::simple);
}

TEST_CASE(
    "from NCCL 2.20 on a node gives a message a channel for every 64 KiB, half of its channels for two") {
  const PeerSetting two = node_of(2, {2, 27, 3});
  CHECK(peer_shape(two, 64 * kKib).parts == 1);
  CHECK(peer_shape(two, 64 * kKib + 1).parts == 2);
  // 32 channels for two ranks: 16 each
  CHECK(peer_shape(two, 16 * kMib).parts == 16);
  CHECK(peer_shape(two, 16 * kMib).part == kMib);
  // a part beyond 32 chunks of 512 KiB takes twice as many channels
  CHECK(peer_shape(two, 256 * kMib).parts == 16);
  CHECK(peer_shape(two, 256 * kMib + 1).parts == 32);
  CHECK(peer_shape(node_of(8, {2, 27, 3}), 16 * kMib).parts == 4);
}

TEST_CASE("small messages of a node go by LL: 16 KiB for each channel of the peer, since NCCL 2.13") {
  const PeerSetting two = node_of(2, {2, 27, 3});
  CHECK(peer_shape(two, 512 * kKib).protocol == Protocol::ll);
  CHECK(peer_shape(two, 512 * kKib + 1).protocol == Protocol::simple);
  CHECK(peer_shape(node_of(2, {2, 12, 0}), 1).protocol == Protocol::simple);
  PeerSetting network = two;
  network.path = PeerPath::network, network.nodes = 2;
  CHECK(peer_shape(network, 1).protocol == Protocol::simple);
}

TEST_CASE("over the network a large job has one channel for a peer up to a chunk, then two") {
  // Polaris: 1024 ranks, 4 channels; nothing is left to halve
  const PeerSetting large{{2, 21, 0}, 1024, 256, 4, 1, PeerPath::network, 0};
  CHECK(peer_shape(large, 8 * kMib).parts == 1);
  const PeerSetting small{{2, 21, 0}, 8, 2, 4, 2, PeerPath::network, 0};
  CHECK(peer_shape(small, 128 * kKib).parts == 1);
  CHECK(peer_shape(small, 128 * kKib + 1).parts == 2);
  // 128 KiB, a quarter of it below one chunk, half below eight
  CHECK(peer_shape(small, 64 * kKib).chunk == 32 * kKib);
  CHECK(peer_shape(small, 512 * kKib).chunk == 64 * kKib);
  CHECK(peer_shape(small, kMib).chunk == 128 * kKib);
}

TEST_CASE(
    "the chunk of a part: a slot of the buffer, 128 KiB over networks since NCCL 2.14, over PCIe since "
    "2.16") {
  const auto chunk = [](PeerPath path) {
    return [=](const Version& v) {
      PeerSetting setting = node_of(8, v);
      setting.path = path, setting.nodes = path == PeerPath::network ? 2 : 1;
      return static_cast<double>(peer_shape(setting, 64 * kMib).chunk / kKib);
    };
  };
  test::check_versions({{{2, 7, 0}, 512}}, chunk(PeerPath::nvlink));
  test::check_versions({{{2, 7, 0}, 512}, {{2, 16, 0}, 128}}, chunk(PeerPath::pcie));
  test::check_versions({{{2, 7, 0}, 512}, {{2, 14, 0}, 128}}, chunk(PeerPath::network));
  PeerSetting own = node_of(8, {2, 20, 5});
  own.buffer = 8 * kMib;
  CHECK(peer_shape(own, 64 * kMib).chunk == kMib);
}

TEST_CASE("the least that makes another part, by version: a slot, an eighth or a half of a chunk") {
  const auto least = [](PeerPath path, int nodes) {
    return [=](const Version& v) { return last_of_one_part({v, 2, nodes, 32, 16, path, 0}); };
  };
  test::check_versions({{{2, 7, 0}, 2048}, {{2, 9, 0}, 512}, {{2, 13, 0}, 64}}, least(PeerPath::nvlink, 1));
  test::check_versions({{{2, 9, 0}, 512}, {{2, 13, 0}, 64}, {{2, 16, 0}, 16}}, least(PeerPath::pcie, 1));
  test::check_versions({{{2, 9, 0}, 512}, {{2, 13, 0}, 64}, {{2, 14, 0}, 16}, {{2, 20, 0}, 64}},
                       least(PeerPath::network, 2));
}

TEST_CASE(
    "a part that is too large takes twice the channels: 2 MiB, 32 chunks in a node, one over networks") {
  const auto most = [](PeerPath path, int nodes) {
    return [=](const Version& v) { return last_of_one_part({v, 64, nodes, 32, 2, path, 0}); };
  };
  test::check_versions({{{2, 9, 0}, 2048}, {{2, 13, 0}, 32 * 512}}, most(PeerPath::nvlink, 1));
  test::check_versions({{{2, 9, 0}, 2048}, {{2, 13, 0}, 512}, {{2, 14, 0}, 128}}, most(PeerPath::network, 2));
}

TEST_CASE(
    "large jobs leave a peer fewer channels: all peers' within those there are, until 2.19 four times") {
  const auto parts = [](int ranks) {  // of a message that would take any number
    return [=](const Version& v) -> double {
      return peer_shape({v, ranks, 1, 32, 32, PeerPath::nvlink, 0}, std::int64_t{1} << 40).parts;
    };
  };
  test::check_versions({{{2, 9, 0}, 32}}, parts(4));
  test::check_versions({{{2, 9, 0}, 16}, {{2, 20, 0}, 32}}, parts(8));
  test::check_versions({{{2, 9, 0}, 1}, {{2, 20, 0}, 32}}, parts(128));
  const auto fewest = [](int ranks) {  // of one just large enough for a part on each
    return [=](const Version& v) -> double {
      return peer_shape({v, ranks, 1, 32, 32, PeerPath::nvlink, 0}, 32 * 512 * kKib).parts;
    };
  };
  test::check_versions({{{2, 9, 0}, 32}}, fewest(1));
  test::check_versions({{{2, 9, 0}, 16}}, fewest(2));
  test::check_versions({{{2, 13, 0}, 8}}, fewest(4));
  test::check_versions({{{2, 13, 0}, 8}}, fewest(3));
  test::check_versions({{{2, 13, 0}, 1}}, fewest(32));
}

TEST_CASE("LL takes small messages to peers of a node since NCCL 2.13: 16 KiB for each of their channels") {
  const auto low_latency = [](PeerPath path, std::int64_t bytes) {
    return [=](const Version& v) -> double {
      const PeerSetting setting{v, 8, path == PeerPath::network ? 2 : 1, 32, 4, path, 0};
      return peer_shape(setting, bytes).protocol == Protocol::ll ? 1 : 0;
    };
  };
  for (const PeerPath path : {PeerPath::nvlink, PeerPath::pcie}) {
    test::check_versions({{{2, 7, 0}, 0}, {{2, 13, 0}, 1}}, low_latency(path, 64 * kKib));
    test::check_versions({{{2, 7, 0}, 0}}, low_latency(path, 64 * kKib + 1));
  }
  test::check_versions({{{2, 7, 0}, 0}}, low_latency(PeerPath::network, 1));
}

TEST_CASE("parts hold the message, and none is empty") {
  for (const Version version :
       {Version{2, 7, 8}, {2, 10, 3}, {2, 12, 12}, {2, 18, 3}, {2, 21, 5}, {2, 28, 3}}) {
    for (const PeerPath path : {PeerPath::nvlink, PeerPath::pcie, PeerPath::network}) {
      for (const int ranks : {2, 8, 2048}) {
        for (std::int64_t bytes = 0; bytes <= std::int64_t{1} << 40; bytes = bytes * 7 + 1) {
          const PeerSetting setting{version, ranks, path == PeerPath::network ? 2 : 1, 32, 8, path, 0};
          const PeerShape shape = peer_shape(setting, bytes);
          CHECK(shape.parts >= 1);
          CHECK(shape.parts <= setting.per_peer);
          CHECK(shape.part * shape.parts >= bytes);
        }
      }
    }
  }
}

}  // namespace peer_shape_test

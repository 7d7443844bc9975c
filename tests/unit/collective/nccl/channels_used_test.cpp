// Channels, threads and chunks for messages of all sizes.
#include "sim/collective/nccl/channels_used.hpp"

#include "tests/support/catch.hpp"

namespace channels_used_test {

using namespace foretrain;
using namespace foretrain::nccl;

namespace {

constexpr std::int64_t kKib = 1024, kMib = 1024 * kKib;

/// Eight A100 on NVSwitch: 24 channels, rings of 240 GB/s in all.
RunSetting a100_node(Version version = {2, 20, 5}) {
  RunSetting setting;
  setting.version = version;
  setting.ranks = 8, setting.channels = 24, setting.ring_gbps = 240;
  return setting;
}

RunShape run(const RunSetting& setting, nccl::Algorithm algorithm, Protocol protocol, std::int64_t bytes) {
  return run_shape(setting, CollectiveOp::all_reduce, algorithm, protocol, bytes);
}

ChunkShape chunks(const RunSetting& setting, CollectiveOp op, nccl::Algorithm algorithm, Protocol protocol,
                  std::int64_t bytes) {
  return chunk_shape(setting, op, algorithm, protocol, bytes,
                     run_shape(setting, op, algorithm, protocol, bytes));
}

}  // namespace

TEST_CASE("a simple ring runs one channel per 512 threads with 64 bytes each") {
  const RunSetting node = a100_node();
  const auto simple = [&](std::int64_t bytes) {
    return run(node, nccl::Algorithm::ring, Protocol::simple, bytes);
  };
  CHECK(simple(768 * kKib) == RunShape{24, 544});  // 24 * 512 * 64 B, and one warp to synchronize
  CHECK(simple(768 * kKib - 1) == RunShape{23, 544});
  CHECK(simple(64 * kKib) == RunShape{2, 544});
  CHECK(simple(32 * kKib) == RunShape{1, 544});
  CHECK(simple(16 * kKib) == RunShape{1, 288});  // threads halve
  CHECK(simple(8 * kKib) == RunShape{1, 160});
  CHECK(simple(0) == RunShape{1, 96});  // 512 → 64 threads: not divisible by 128 any more; 64 + 32
}

TEST_CASE("LL runs a channel per 4 KiB in a tree and per rank's 4 KiB in a ring") {
  const RunSetting node = a100_node();
  CHECK(run(node, nccl::Algorithm::tree, Protocol::ll, 8 * kKib).channels == 2);
  CHECK(run(node, nccl::Algorithm::ring, Protocol::ll, 64 * kKib).channels ==
        2);  // 512 threads * 8 B * 8 ranks = 32 KiB
  CHECK(run(node, nccl::Algorithm::ring, Protocol::ll128, 5 * kKib).channels == 1);  // 640 threads * 8 B
  CHECK(run(node, nccl::Algorithm::ring, Protocol::ll128, 10 * kKib).channels == 2);
}

TEST_CASE("rings as slow as PCIe take half the threads, trees since 2.22 always 640") {
  RunSetting node = a100_node();
  node.ring_gbps = 12;
  CHECK(run(node, nccl::Algorithm::ring, Protocol::simple, kMib).threads == 256 + 32);
  CHECK(run(a100_node(), nccl::Algorithm::tree, Protocol::simple, 64 * kMib).threads == 512 + 128);
  CHECK(run(a100_node({2, 22, 3}), nccl::Algorithm::tree, Protocol::ll, kKib).threads == 640);
}

TEST_CASE("the user sets the threads of Simple and LL128, CollNet's are 640, and none has fewer than 96") {
  RunSetting node = a100_node();
  node.simple_threads = 256, node.ll128_threads = 320;
  CHECK(run(node, nccl::Algorithm::ring, Protocol::simple, 64 * kMib).threads == 256 + 32);
  CHECK(run(node, nccl::Algorithm::tree, Protocol::simple, 64 * kMib).threads == 256 + 128);
  CHECK(run(node, nccl::Algorithm::ring, Protocol::ll128, 64 * kMib).threads == 320);
  CHECK(run(node, nccl::Algorithm::ring, Protocol::ll, 64 * kMib).threads == 512);
  CHECK(run(a100_node(), nccl::Algorithm::ring, Protocol::ll128, 64 * kMib).threads == 640);
  CHECK(run(node, nccl::Algorithm::collnet_chain, Protocol::simple, 64 * kMib).threads == 640);
  CHECK(run(a100_node(), nccl::Algorithm::tree, Protocol::ll, 0) == RunShape{1, 96});
  // 640 threads halve to 320, which no more divides by 128
  CHECK(run(a100_node(), nccl::Algorithm::ring, Protocol::ll128, 0) == RunShape{1, 320});
}

TEST_CASE("a chain of CollNet has 512 bytes for every thread, a channel is never halved") {
  const RunSetting node = a100_node();
  CHECK(run(node, nccl::Algorithm::collnet_chain, Protocol::simple, 640 * 512 * 5).channels == 5);
  CHECK(run(node, nccl::Algorithm::collnet_chain, Protocol::simple, 640 * 512 * 5 - 1).channels == 4);
}

TEST_CASE(
    "CollNetDirect asks half of its bytes for each head and thread at one and a half of 16, 8, 4 and 2") {
  RunSetting node = a100_node();
  node.heads = 8;
  const std::int64_t channel = std::int64_t{640} * 512 * node.heads;
  const auto channels = [&](std::int64_t bytes) {
    return run(node, nccl::Algorithm::collnet_direct, Protocol::simple, bytes).channels;
  };
  CHECK(channels(24 * channel) == 24);
  CHECK(channels(24 * channel - 1) == 23);
  CHECK(channels(23 * channel / 2) == 23);
  CHECK(channels(23 * channel / 2 - 1) == 22);
  CHECK(channels(12 * channel / 2) == 12);
  CHECK(channels(12 * channel / 2 - 1) == 11);
  CHECK(channels(8 * channel / 4 - 1) == 7);
  CHECK(channels(6 * channel / 4 - 1) == 5);
  CHECK(channels(3 * channel / 8 - 1) == 2);
  CHECK(channels(2 * channel / 16) == 2);
  CHECK(channels(2 * channel / 16 - 1) == 1);
  CHECK(channels(0) == 1);
}

TEST_CASE("since NCCL 2.22 a channel has 512 bytes of traffic, twice the message to all-reduce") {
  RunSetting node = a100_node({2, 22, 3});
  node.nvls_channels = 16;
  const auto channels = [&](CollectiveOp op, std::int64_t bytes) {
    return run_shape(node, op, nccl::Algorithm::nvls, Protocol::simple, bytes).channels;
  };
  CHECK(channels(CollectiveOp::all_reduce, 3 * 256) == 3);
  CHECK(channels(CollectiveOp::all_reduce, 3 * 256 + 1) == 4);
  CHECK(channels(CollectiveOp::all_gather, 3 * 512) == 3);
  CHECK(channels(CollectiveOp::all_gather, 3 * 512 + 1) == 4);
  CHECK(channels(CollectiveOp::all_gather, 0) == 1);
}

TEST_CASE("NVLS runs all its channels, unless there is less than a cell for each") {
  RunSetting node = a100_node({2, 22, 3});
  node.nvls_channels = 16;
  CHECK(run(node, nccl::Algorithm::nvls, Protocol::simple, kMib).channels == 16);
  CHECK(run(node, nccl::Algorithm::nvls, Protocol::simple, 512).channels ==
        2);  // 2 B of traffic per byte, 512 B at least per channel
  node.version = {2, 21, 5};
  CHECK(run(node, nccl::Algorithm::nvls, Protocol::simple, 8).channels == 16);
}

TEST_CASE(
    "a simple ring moves 2 MiB chunks in two slices, and a loop has a chunk for every rank and channel") {
  const ChunkShape shape =
      chunks(a100_node(), CollectiveOp::all_reduce, nccl::Algorithm::ring, Protocol::simple, 1024 * kMib);
  CHECK(shape.chunk == 2 * kMib);
  CHECK(shape.slice() == kMib);
  CHECK(shape.loop_bytes == 24 * 8 * 2 * kMib);
  CHECK(shape.loops == 3);  // 1024 / 384 = 2.67
  CHECK(shape.steps == 14);
  // The rest of 256 MiB: 256 / 192 = 1.333 MiB, rounded up to 512 threads * 8 B = 4 KiB.
  CHECK(shape.last_chunk == 342 * 4 * kKib);
}

TEST_CASE("broadcast moves single slots of 512 KiB") {
  const ChunkShape shape =
      chunks(a100_node(), CollectiveOp::broadcast, nccl::Algorithm::ring, Protocol::simple, 1024 * kMib);
  CHECK(shape.chunk == 512 * kKib);
  CHECK(shape.slices == 1);
  CHECK(shape.loop_bytes == 24 * 512 * kKib);
  CHECK(shape.steps == 7);
}

TEST_CASE("slots hold 512 KiB of data, 32 KiB as LL and 576,000 B as LL128") {
  CHECK(slot_bytes(a100_node(), Protocol::simple) == 512 * kKib);
  CHECK(slot_bytes(a100_node(), Protocol::ll) == 32 * kKib);
  CHECK(slot_bytes(a100_node(), Protocol::ll128) == 576'000);
  RunSetting arm = a100_node({2, 18, 6});
  arm.arm_host = true;
  CHECK(slot_bytes(arm, Protocol::simple) == 128 * kKib);
  arm.version = {2, 19, 3};
  CHECK(slot_bytes(arm, Protocol::simple) == 512 * kKib);
}

TEST_CASE("until 2.19 a simple tree halves its chunks while the message is shorter than the pipeline") {
  RunSetting two_nodes = a100_node({2, 18, 6});
  two_nodes.ranks = 16, two_nodes.nodes = 2;  // depth 7 + 1 = 8
  const auto chunk = [&](std::int64_t bytes) {
    return chunks(two_nodes, CollectiveOp::all_reduce, nccl::Algorithm::tree, Protocol::simple, bytes).chunk;
  };
  CHECK(chunk(24 * 64 * 512 * kKib) == 512 * kKib);  // 64 chunks per channel are 8 depths
  CHECK(chunk(24 * 64 * 512 * kKib - 24) == 256 * kKib);
  CHECK(chunk(24 * 64 * 128 * kKib) == 128 * kKib);
  CHECK(chunk(24 * 8 * 128 * kKib) == 64 * kKib);  // below 4 depths of 128 KiB
  CHECK(chunk(24 * 8 * 32 * kKib) == 32 * kKib);
  two_nodes.version = {2, 20, 5};
  CHECK(chunk(24 * 8 * 32 * kKib) == 512 * kKib);
}

TEST_CASE("sends are cut smaller over the network when they are short") {
  CHECK(send_chunk_bytes(PeerPath::nvlink, kKib) == 512 * kKib);
  CHECK(send_chunk_bytes(PeerPath::pcie, kKib) == 128 * kKib);
  CHECK(send_chunk_bytes(PeerPath::network, 64 * kKib) == 32 * kKib);
  CHECK(send_chunk_bytes(PeerPath::network, kMib - 1) == 64 * kKib);
  CHECK(send_chunk_bytes(PeerPath::network, kMib) == 128 * kKib);
}

}  // namespace channels_used_test

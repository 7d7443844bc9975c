// Chunks of every algorithm at the sizes where they halve (docs/sources/nccl_tuning.md 3). Eight GPUs a node;
// a message is as much as one channel and, where they share it, each of eight heads has.
#include "sim/collective/nccl/channels_used.hpp"
#include "tests/unit/collective/nccl/tuning_question.hpp"

namespace chunk_shape_test {

using namespace foretrain;
using namespace foretrain::nccl;
using namespace foretrain::test;

namespace {

constexpr std::int64_t kKib = 1024, kMib = 1024 * kKib;
constexpr CollectiveOp kReduce = CollectiveOp::all_reduce, kGather = CollectiveOp::all_gather,
                       kScatter = CollectiveOp::reduce_scatter;
using enum nccl::Algorithm;

RunSetting of_nodes(int nodes, Version version = {2, 18, 6}) {
  RunSetting setting;
  setting.version = version, setting.ranks = 8 * nodes, setting.nodes = nodes;
  setting.channels = setting.nvls_channels = 3, setting.heads = 8, setting.nvls_algbw = 200;
  return setting;
}

/// On three channels; `share` bytes on each.
std::int64_t chunk(const RunSetting& setting, nccl::Algorithm algorithm, std::int64_t share,
                   Protocol protocol = Protocol::simple, CollectiveOp op = kReduce) {
  return chunk_shape(setting, op, algorithm, protocol, 3 * share, {3, 512}).chunk;
}

/// The chunk at a share, and below it.
struct Halving {
  std::int64_t share, from, below;
};

void check_halvings(const RunSetting& setting, nccl::Algorithm algorithm, std::initializer_list<Halving> all,
                    Protocol protocol = Protocol::simple, CollectiveOp op = kReduce) {
  for (const Halving& h : all) {
    CAPTURE(h.share);
    CHECK(chunk(setting, algorithm, h.share, protocol, op) == h.from);
    CHECK(chunk(setting, algorithm, h.share - 1, protocol, op) == h.below);
  }
}

}  // namespace

TEST_CASE("a simple tree's chunk is halved at 8, 4 and one depths of the pipeline until NCCL 2.19") {
  // depth 7 + 1 on two nodes, 7 + 2 on four
  check_halvings(of_nodes(2), tree,
                 {{64 * 512 * kKib, 512 * kKib, 256 * kKib},
                  {64 * 256 * kKib, 256 * kKib, 128 * kKib},
                  {32 * 128 * kKib, 128 * kKib, 64 * kKib},
                  {8 * 64 * kKib, 64 * kKib, 32 * kKib}});
  check_halvings(of_nodes(4), tree,
                 {{36 * 128 * kKib, 128 * kKib, 64 * kKib}, {9 * 64 * kKib, 64 * kKib, 32 * kKib}});
  CHECK(chunk(of_nodes(2), tree, 0) == 32 * kKib);
  check_versions({{{2, 18, 6}, 32}, {{2, 20, 0}, 512}}, [](const Version& v) -> double {
    return static_cast<double>(chunk(of_nodes(2, v), tree, kKib) / kKib);
  });
}

TEST_CASE("a tree's chunk by LL is a slot, by LL128 halved while a rank's part of the pipeline is short") {
  CHECK(chunk(of_nodes(2), tree, kKib, Protocol::ll) == 32 * kKib);
  // 1 + log2(nodes) + 0.1 for each GPU of a node, over these GPUs
  const RunSetting eight = of_nodes(8);  // 64 * 4.8 / 8 = 38.4; 16 * 4.8 / 8 = 9.6
  CHECK(chunk(eight, tree, 384 * 57'600, Protocol::ll128) == 576'000);
  CHECK(chunk(eight, tree, 384 * 57'600 - 1, Protocol::ll128) == 288'000);
  CHECK(chunk(eight, tree, 384 * 14'400, Protocol::ll128) == 144'000);
  CHECK(chunk(eight, tree, 384 * 14'400 - 1, Protocol::ll128) == 72'000);
  CHECK(chunk(eight, tree, 96 * 7'200, Protocol::ll128) == 72'000);
  CHECK(chunk(eight, tree, 96 * 7'200 - 1, Protocol::ll128) == 36'000);
  CHECK(chunk(eight, tree, 0, Protocol::ll128) == 18'000);  // the last above 32 KiB, halved
}

TEST_CASE("CollNetDirect: 64 and 8 depths of each head's part, and one of a lone GPU of its node") {
  check_halvings(of_nodes(2), collnet_direct,
                 {{8 * 128 * 512 * kKib, 512 * kKib, 256 * kKib},
                  {8 * 128 * 256 * kKib, 256 * kKib, 128 * kKib},
                  {8 * 16 * 128 * kKib, 128 * kKib, 64 * kKib},
                  {8 * 16 * 64 * kKib, 64 * kKib, 32 * kKib}});
  RunSetting alone = of_nodes(2);
  alone.ranks = 2, alone.heads = 1;
  check_halvings(alone, collnet_direct,
                 {{64 * 512 * kKib, 512 * kKib, 256 * kKib}, {8 * 64 * kKib, 64 * kKib, 32 * kKib}});
}

TEST_CASE("CollNetChain: from 256 KiB down at 64, 8 and one times the GPUs of a node") {
  check_halvings(of_nodes(2), collnet_chain,
                 {{64 * 8 * 256 * kKib, 256 * kKib, 128 * kKib},
                  {8 * 8 * 128 * kKib, 128 * kKib, 64 * kKib},
                  {8 * 64 * kKib, 64 * kKib, 32 * kKib}});
}

TEST_CASE("NVLS: 128 KiB, less at 64, 8 and 2 times what the heads hold, 32 where the network is slow") {
  const std::initializer_list<Halving> halvings{{8 * 64 * 128 * kKib, 128 * kKib, 64 * kKib},
                                                {8 * 8 * 64 * kKib, 64 * kKib, 32 * kKib},
                                                {8 * 2 * 32 * kKib, 32 * kKib, 16 * kKib}};
  check_halvings(of_nodes(1), nvls, halvings);
  check_halvings(of_nodes(2, {2, 20, 5}), nvls, halvings);
  const auto slow = [](int nodes, double algbw) {
    return [=](const Version& v) {
      RunSetting setting = of_nodes(nodes, v);
      setting.nvls_algbw = algbw;
      return static_cast<double>(chunk(setting, nvls, 1024 * kMib) / kKib);
    };
  };
  check_versions({{{2, 18, 0}, 128}, {{2, 19, 0}, 32}}, slow(2, 149));
  check_versions({{{2, 18, 0}, 128}}, slow(2, 150));
  check_versions({{{2, 18, 0}, 128}}, slow(1, 149));
}

TEST_CASE("NVLSTree: 512 KiB, 128 since NCCL 2.21, at most 64 on four nodes since 2.19") {
  check_halvings(of_nodes(2), nvls_tree,
                 {{8 * 32 * 512 * kKib, 512 * kKib, 256 * kKib},
                  {8 * 16 * 256 * kKib, 256 * kKib, 128 * kKib},
                  {8 * 4 * 128 * kKib, 128 * kKib, 64 * kKib},
                  {8 * 64 * kKib, 64 * kKib, 32 * kKib}});
  const auto most = [](int nodes) {
    return [=](const Version& v) {
      return static_cast<double>(chunk(of_nodes(nodes, v), nvls_tree, 1024 * kMib) / kKib);
    };
  };
  check_versions({{{2, 18, 0}, 512}, {{2, 21, 0}, 128}}, most(3));
  check_versions({{{2, 18, 0}, 512}, {{2, 19, 0}, 64}}, most(4));
}

TEST_CASE("parallel trees halve down to 64 KiB below 32 chunks to gather, 16 to scatter") {
  const RunSetting setting = of_nodes(2, {2, 23, 4});
  check_halvings(setting, pat,
                 {{32 * 512 * kKib, 512 * kKib, 256 * kKib}, {32 * 128 * kKib, 128 * kKib, 64 * kKib}},
                 Protocol::simple, kGather);
  check_halvings(setting, pat, {{16 * 512 * kKib, 512 * kKib, 256 * kKib}}, Protocol::simple, kScatter);
  CHECK(chunk(setting, pat, 0, Protocol::simple, kGather) == 64 * kKib);
}

TEST_CASE("rings by LL and LL128 move single slots, and the user's buffer has eight of them") {
  CHECK(chunk(of_nodes(1), ring, kMib, Protocol::ll) == 32 * kKib);
  CHECK(chunk(of_nodes(1), ring, kMib, Protocol::ll128) == 576'000);
  RunSetting own = of_nodes(1);
  own.simple_buffer = 8 * kMib;
  CHECK(chunk(own, ring, kMib) == 4 * kMib);
  CHECK(chunk(own, ring, kMib, Protocol::simple, CollectiveOp::reduce) == kMib);
  CHECK(chunk(own, ring, kMib, Protocol::ll) == 32 * kKib);
}

TEST_CASE("chunks that a loop has on each channel, and the steps of a loop") {
  struct Row {
    nccl::Algorithm algorithm;
    CollectiveOp op;
    std::int64_t parts;
    int steps;
  };
  // four nodes of eight: 32 ranks
  for (const Row& row : {Row{ring, kReduce, 32, 62},
                         {ring, kGather, 32, 31},
                         {ring, kScatter, 32, 31},
                         {ring, CollectiveOp::broadcast, 1, 31},
                         {ring, CollectiveOp::reduce, 1, 31},
                         {tree, kReduce, 1, 2 * (7 + 2)},
                         {collnet_chain, kReduce, 1, 2 * 7 + 1},
                         {collnet_direct, kReduce, 8, 2},
                         {nvls, kReduce, 8, 2},
                         {nvls_tree, kReduce, 8, 2 + 2 * 2},
                         {collnet_direct, kGather, 32, 2},
                         {nvls, kScatter, 32, 2}}) {
    const ChunkShape shape =
        chunk_shape(of_nodes(4), row.op, row.algorithm, Protocol::simple, 1 << 30, {3, 640});
    CAPTURE(name_of(row.algorithm));
    CHECK(shape.loop_bytes == 3 * row.parts * shape.chunk);
    CHECK(shape.steps == row.steps);
    CHECK((shape.loops - 1) * shape.loop_bytes < 1 << 30);
    CHECK(shape.loops * shape.loop_bytes >= 1 << 30);
  }
}

TEST_CASE("the last loop's chunk is what is left, in whole steps of the threads") {
  const RunSetting node = of_nodes(1);
  const auto last = [&](Protocol protocol, std::int64_t rest, int threads) {
    const std::int64_t loop = chunk_shape(node, kReduce, ring, protocol, 1, {2, threads}).loop_bytes;
    return chunk_shape(node, kReduce, ring, protocol, 2 * loop + 16 * rest, {2, threads}).last_chunk;
  };
  CHECK(last(Protocol::simple, 100'000, 544) == 25 * 512 * 8);  // without the warp that synchronizes
  CHECK(last(Protocol::simple, 4096, 544) == 4096);
  CHECK(last(Protocol::simple, 4097, 544) == 2 * 4096);
  CHECK(last(Protocol::ll, 4097, 512) == 2 * 4096);
  CHECK(last(Protocol::ll128, 19'201, 640) == 2 * 19'200);
  CHECK(last(Protocol::ll, 32 * kKib, 512) == 32 * kKib);
}

}  // namespace chunk_shape_test

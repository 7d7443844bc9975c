// NCCL's forecast in cases that the printed tables do not cover; formulas in docs/sources/nccl_tuning.md 1.
#include "sim/collective/nccl/tuning.hpp"

#include "tests/support/catch.hpp"

namespace tuning_test {

using namespace foretrain;
using namespace foretrain::nccl;

namespace {

GraphResult graph(Pattern pattern, int channels, double intra, double inter) {
  GraphResult result;
  result.pattern = pattern;
  result.channels = channels, result.bw_intra = intra, result.bw_inter = inter;
  result.type_intra = PathClass::nvl, result.type_inter = PathClass::pix;
  return result;
}

/// Nodes of eight H100 with a 400 Gb/s rail each.
TuningInput h100(Version version, int nodes) {
  TuningInput input;
  input.job = {version, 8 * nodes, nodes, 90, 90, CpuVendor::intel, true, false, false, 16};
  input.ring = graph(Pattern::ring, 8, 45, 45);
  input.tree = graph(Pattern::balanced_tree, 8, 45, 45);
  input.nvls = graph(Pattern::nvls, 8, 40, nodes > 1 ? 45 : 40);
  return input;
}

constexpr CollectiveOp kReduce = CollectiveOp::all_reduce;

}  // namespace

TEST_CASE("NVLS of one node is five sixths of its channels' speed") {
  const TuningTable table = tuning_table(h100({2, 20, 5}, 1));
  const Forecast& nvls = table.at(kReduce, nccl::Algorithm::nvls, Protocol::simple);
  CHECK(nvls.algbw == Approx(8 * 40 * 5.0 / 6));
  CHECK(nvls.latency_us == Approx(23));
  CHECK(table.at(kReduce, nccl::Algorithm::nvls, Protocol::ll).algbw == 0);
  CHECK(table.at(kReduce, nccl::Algorithm::nvls_tree, Protocol::simple).algbw == 0);
  CHECK(choose(table, kReduce, 1 << 30).algorithm == nccl::Algorithm::nvls);
}

TEST_CASE("NVLS between nodes needs a fabric that reduces, NVLSTree does not") {
  const TuningTable table = tuning_table(h100({2, 20, 5}, 4));
  CHECK(table.at(kReduce, nccl::Algorithm::nvls, Protocol::simple).algbw == 0);
  // min(40, 45 / 2) * 8 channels * 5/6; 23 + 2 * 2 * 14 us
  CHECK(table.at(kReduce, nccl::Algorithm::nvls_tree, Protocol::simple).algbw == Approx(8 * 22.5 * 5 / 6));
  CHECK(table.at(kReduce, nccl::Algorithm::nvls_tree, Protocol::simple).latency_us == Approx(79));
}

TEST_CASE("a tree that fell back to the plain pattern is forecast at 85 percent") {
  TuningInput input = h100({2, 20, 5}, 4);
  const float balanced = algorithm_bandwidth(input, kReduce, nccl::Algorithm::tree, Protocol::simple);
  input.tree.pattern = Pattern::tree;
  CHECK(algorithm_bandwidth(input, kReduce, nccl::Algorithm::tree, Protocol::simple) ==
        Approx(balanced * .85));
  input.job.version = {2, 17, 1};
  CHECK(algorithm_bandwidth(input, kReduce, nccl::Algorithm::tree, Protocol::simple) ==
        Approx(4 * 33));  // 8 * 33 GB/s of perChMaxTree, halved
}

TEST_CASE("LL128 waits for NVLink, a near NIC and a GPU generation that NCCL trusts") {
  TuningInput input = h100({2, 14, 3}, 2);
  CHECK_FALSE(ll128_is_safe(input, kReduce, nccl::Algorithm::ring));  // Hopper since 2.15
  input.job.version = {2, 15, 1};
  CHECK(ll128_is_safe(input, kReduce, nccl::Algorithm::ring));
  input.ring.type_inter = PathClass::pxn;
  CHECK_FALSE(ll128_is_safe(input, kReduce, nccl::Algorithm::ring));
  input.job.version = {2, 17, 1};
  CHECK(ll128_is_safe(input, kReduce, nccl::Algorithm::ring));
  input.ring.type_intra = PathClass::phb;
  CHECK_FALSE(ll128_is_safe(input, kReduce, nccl::Algorithm::ring));
}

TEST_CASE("a forced algorithm or protocol leaves the others out, one that cannot run is not available") {
  const TuningTable table = tuning_table(h100({2, 20, 5}, 1));
  const Choice tree = choose(table, kReduce, 1 << 30, {nccl::Algorithm::tree, Protocol::ll});
  CHECK(tree.algorithm == nccl::Algorithm::tree);
  CHECK(tree.protocol == Protocol::ll);
  CHECK_FALSE(choose(table, kReduce, 1 << 30, {nccl::Algorithm::pat, {}}).available);
  CHECK_FALSE(choose(table, CollectiveOp::alltoall, 1 << 30).available);
}

TEST_CASE("rings pay their latency for every grouped operation, trees once per kernel") {
  const TuningTable table = tuning_table(h100({2, 20, 5}, 1));
  const auto at = [&](nccl::Algorithm algorithm, int grouped) {
    return *predicted_us(table, kReduce, 64, algorithm, Protocol::ll, grouped);
  };
  CHECK(at(nccl::Algorithm::ring, 9) - at(nccl::Algorithm::ring, 1) ==
        Approx(8 * table.at(kReduce, nccl::Algorithm::ring, Protocol::ll).latency_us));
  CHECK(at(nccl::Algorithm::tree, 9) == at(nccl::Algorithm::tree, 1));
  CHECK(at(nccl::Algorithm::tree, 10) > at(nccl::Algorithm::tree, 9));
}

TEST_CASE("PAT exists for one GPU per node since 2.23") {
  TuningInput input = h100({2, 23, 4}, 4);
  CHECK_FALSE(is_considered(input.job, CollectiveOp::all_gather, nccl::Algorithm::pat, Protocol::simple));
  input.job.ranks = 4;
  CHECK(is_considered(input.job, CollectiveOp::all_gather, nccl::Algorithm::pat, Protocol::simple));
  // 8 + log2(4) * 14 / 3.5 + 2.8 * 4
  CHECK(latency_us(input, CollectiveOp::all_gather, nccl::Algorithm::pat, Protocol::simple) == Approx(27.2));
  input.job.version = {2, 22, 3};
  CHECK_FALSE(is_considered(input.job, CollectiveOp::all_gather, nccl::Algorithm::pat, Protocol::simple));
}

TEST_CASE("the reason names the choice and the next best") {
  const TuningTable table = tuning_table(h100({2, 20, 5}, 1));
  const Choice choice = choose(table, kReduce, 1 << 30);
  CHECK_THAT(reason(table, kReduce, 1 << 30, choice),
             ContainsSubstring("NVLS/Simple") && ContainsSubstring("next Ring/Simple"));
}

TEST_CASE("every version, size and operation has a choice, and no forecast is negative or infinite") {
  for (int minor = 5; minor <= 30; ++minor) {
    for (const int nodes : {1, 2, 5}) {
      const TuningTable table = tuning_table(h100({2, minor, 1}, nodes));
      for (const CollectiveOp op : {kReduce, CollectiveOp::all_gather, CollectiveOp::broadcast}) {
        for (const std::int64_t bytes : {0LL, 1LL, 4096LL, 1LL << 20, 1LL << 30, 1LL << 40, 1LL << 60}) {
          const Choice choice = choose(table, op, bytes);
          CAPTURE(minor, nodes, bytes);
          REQUIRE(choice.available);
          REQUIRE(choice.predicted_us > 0);
          REQUIRE(choice.predicted_us < 1e16F);
        }
      }
    }
  }
}

}  // namespace tuning_test

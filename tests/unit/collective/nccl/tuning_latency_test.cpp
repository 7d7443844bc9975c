// Latency of NCCL's forecast, term by term as docs/sources/nccl_tuning.md 1.2 spells it; eight GPUs a node
// unless said otherwise.
#include "tests/unit/collective/nccl/tuning_question.hpp"

namespace tuning_latency_test {

using namespace foretrain;
using namespace foretrain::nccl;
using namespace foretrain::test;

namespace {

constexpr CollectiveOp kReduce = CollectiveOp::all_reduce, kGather = CollectiveOp::all_gather,
                       kBroadcast = CollectiveOp::broadcast;
constexpr Protocol kLl = Protocol::ll, kSimple = Protocol::simple;
using enum nccl::Algorithm;

float of(const TuningInput& input, nccl::Algorithm algorithm, Protocol protocol, CollectiveOp op = kReduce) {
  return latency_us(input, op, algorithm, protocol);
}
auto of_version(int per_node, int nodes, nccl::Algorithm algorithm, Protocol protocol,
                CollectiveOp op = kReduce) {
  return [=](const Version& v) { return of(nodes_of(per_node, nodes, v), algorithm, protocol, op); };
}

}  // namespace

TEST_CASE("a ring of one node pays a step of its links for every other rank, twice to all-reduce") {
  check_versions({{{2, 5, 0}, 3.6 + 14 * .4}, {{2, 7, 0}, 3.6 + 14 * .47}, {{2, 18, 0}, 6.6 + 14 * .6}},
                 of_version(8, 1, ring, kLl));
  CHECK(of(nodes_of(8, 1, {2, 20, 5}), ring, kSimple, kGather) == Approx(8.4 + 7 * 3.4));
  TuningInput pcie = nodes_of(8, 1, {2, 20, 5});
  pcie.ring.type_intra = PathClass::phb;
  CHECK(of(pcie, ring, kSimple) == Approx(8.4 + 14 * 5.7));
}

TEST_CASE("of a ring's steps over nodes 2(N-1) cross the network, 2N from NCCL 2.12 to 2.22") {
  // 2 * 31 steps; up to 2.17 LL's inner steps count 1.8 times, since then at least 1 us of posting
  const double old = 1.8 * .47;
  check_versions({{{2, 5, 0}, 3.6 + 62 * .9},
                  {{2, 7, 0}, 3.6 + 56 * old + 6 * 2.7},
                  {{2, 12, 0}, 3.6 + 54 * old + 8 * 2.7},
                  {{2, 18, 0}, 6.6 + 54 * 1.0 + 8 * 2.7},
                  {{2, 23, 0}, 6.6 + 56 * 1.0 + 6 * 2.7}},
                 of_version(8, 4, ring, kLl));
  check_versions({{{2, 7, 0}, 8.4 + 28 * 3.4 + 3 * 9.6},
                  {{2, 12, 0}, 8.4 + 28 * 3.4 + 3 * 28},
                  {{2, 14, 0}, 8.4 + 28 * 3.4 + 3 * 9.6},
                  {{2, 18, 0}, 8.4 + 28 * 3.4 + 3 * 14}},
                 of_version(8, 4, ring, kSimple, kGather));
}

TEST_CASE("posting to the network takes AMD's hosts twice as long, and Simple three times") {
  TuningInput amd = nodes_of(8, 4, {2, 18, 0});
  amd.job.cpu = CpuVendor::amd;
  CHECK(of(amd, ring, kLl) == Approx(6.6 + 54 * 2 + 8 * 2.7));
  CHECK(of(amd, ring, kSimple) == Approx(8.4 + 54 * 6 + 8 * 14));
  CHECK(of(nodes_of(8, 4, {2, 18, 0}), ring, kSimple) == Approx(8.4 + 54 * 3.4 + 8 * 14));
  amd.job.version = {2, 17, 99};
  CHECK(of(amd, ring, kSimple) == Approx(8.4 + 54 * 3.4 + 8 * 9.6));
}

TEST_CASE(
    "a broadcast pays one step where all channels run alike, else one for every rank, Simple a tree's") {
  TuningInput input = nodes_of(8, 1, {2, 20, 5});
  CHECK(of(input, ring, kLl, kBroadcast) == Approx(6.6 + .6));
  CHECK(of(input, ring, kSimple, kBroadcast) == Approx(8.4 + 3.4));
  input.ring.same_channels = false;
  CHECK(of(input, ring, kLl, kBroadcast) == Approx(6.6 + 8 * .6));
  CHECK(of(input, ring, kSimple, CollectiveOp::reduce) == Approx(8.4 + 8 * 28));
  input = nodes_of(8, 2, {2, 20, 5});
  CHECK(of(input, ring, kLl, kBroadcast) == Approx(6.6 + 2.7));
  input.ring.same_channels = false;
  CHECK(of(input, ring, kLl, CollectiveOp::reduce) == Approx(6.6 + 16 * 2.7));
}

TEST_CASE("a tree goes down the chain of a node and log2 of the nodes, twice") {
  check_versions({{{2, 7, 0}, 4.4 + 2 * (7 * 1.8 * .52 + 2 * 5)}, {{2, 18, 0}, 6.8 + 2 * (7 * .6 + 2 * 5)}},
                 of_version(8, 4, tree, kLl));
  CHECK(of(nodes_of(8, 7, {2, 20, 5}), tree, kLl) == Approx(6.8 + 2 * (7 * .6 + 2 * 5)));
  CHECK(of(nodes_of(8, 8, {2, 20, 5}), tree, kLl) == Approx(6.8 + 2 * (7 * .6 + 3 * 5)));
  CHECK(of(nodes_of(8, 1, {2, 17, 1}), tree, kLl) == Approx(4.4 + 2 * 7 * .52));
  TuningInput pcie = nodes_of(4, 1, {2, 20, 5});
  pcie.tree.type_intra = PathClass::pix;
  CHECK(of(pcie, tree, kLl) == Approx(6.8 + 2 * 3 * 1.0));
  CHECK(of(pcie, tree, kSimple) == Approx(2 * 3 * 28));
  pcie.job.cpu = CpuVendor::power;  // a ring's value over PCIe
  CHECK(of(pcie, tree, kSimple) == Approx(2 * 3 * 5.7));
  CHECK(of(pcie, tree, kLl) == Approx(6.8 + 2 * 3 * 1.0));
}

TEST_CASE("CollNet's latencies, by version") {
  check_versions({{{2, 7, 0}, 2 * 7 * 4.0 + 10.7},
                  {{2, 10, 0}, 2 * (8.0 + 7 * .5) + 10.7},
                  {{2, 19, 0}, 2 * (3.7 + 7 * .4) + 31}},
                 of_version(8, 4, collnet_direct, kSimple));
  // with one GPU per node there is nobody to gather from; since 2.23 the network's step is a tree's
  check_versions({{{2, 10, 0}, 10.7}, {{2, 19, 0}, 31}, {{2, 23, 0}, 14}},
                 of_version(1, 4, collnet_direct, kSimple));
  check_versions({{{2, 14, 0}, 2 * 7 * 8.0}, {{2, 18, 0}, 2 * 7 * 4.75 + 14}, {{2, 19, 0}, 2 * 7 * 2.8 + 30}},
                 of_version(8, 4, collnet_chain, kSimple));
}

TEST_CASE("the switches' latencies, by version") {
  check_versions({{{2, 17, 0}, 40}, {{2, 18, 0}, 23}, {{2, 21, 0}, 25}}, of_version(8, 1, nvls, kSimple));
  check_versions({{{2, 17, 0}, 40}, {{2, 18, 0}, 23 + 18}, {{2, 21, 0}, 25 + 18}},
                 of_version(8, 4, nvls, kSimple));
  check_versions({{{2, 18, 0}, 23 + 2 * 3 * 19},
                  {{2, 19, 0}, 23 + 2 * 2 * 14},
                  {{2, 21, 0}, 25 + 2 * 2 * 14},
                  {{2, 28, 0}, 25 + 2 * 2 * 20.9}},
                 of_version(8, 4, nvls_tree, kSimple));
}

TEST_CASE("parallel aggregated trees, and one GPU per node, which takes a tree's step since NCCL 2.23") {
  CHECK(of(nodes_of(1, 8, {2, 23, 4}), pat, kSimple, kGather) == Approx(8 + 3 * 14 / 3.5 + 2.8 * 8));
  check_versions({{{2, 18, 0}, 6.6 + 2 * 4 * 2.7 - 2 * 1.0}, {{2, 23, 0}, 6.6 + 2 * 3 * 5.0}},
                 of_version(1, 4, ring, kLl));
}

TEST_CASE(
    "a plug-in's latency replaces a network step from NCCL 2.12 to 2.17, is added since, Simple's twice") {
  const auto ring_of = [](Protocol protocol, CollectiveOp op) {
    return [=](const Version& v) {
      TuningInput input = nodes_of(1, 2, v);  // one step, over the network
      input.ring.nic_latency_us = 75;
      return of(input, ring, protocol, op);
    };
  };
  check_versions({{{2, 7, 0}, 3.6 + 2.7},
                  {{2, 12, 0}, 3.6 + 75},
                  {{2, 18, 0}, 6.6 + 2.7 + 75},
                  {{2, 23, 0}, 6.6 + 5 + 75}},
                 ring_of(kLl, kGather));
  check_versions({{{2, 12, 0}, 8.4 + 75}, {{2, 18, 0}, 8.4 + 14 + 2 * 75}}, ring_of(kSimple, kGather));
}

}  // namespace tuning_latency_test

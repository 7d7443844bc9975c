// Bandwidth of NCCL's forecast, factor by factor as docs/sources/nccl_tuning.md 1.1 spells it: channels of 40
// GB/s inside a node and 20 between nodes, four of them unless said otherwise.
#include "tests/unit/collective/nccl/tuning_question.hpp"

namespace tuning_bandwidth_test {

using namespace foretrain;
using namespace foretrain::nccl;
using namespace foretrain::test;

namespace {

constexpr CollectiveOp kReduce = CollectiveOp::all_reduce, kGather = CollectiveOp::all_gather;
constexpr Protocol kLl = Protocol::ll, kLl128 = Protocol::ll128, kSimple = Protocol::simple;
constexpr double kAll = 8.0 / 14;  ///< of a ring's bus: an all-reduce over eight ranks
using enum nccl::Algorithm;

double of(const TuningInput& input, nccl::Algorithm algorithm, Protocol protocol, CollectiveOp op = kReduce) {
  return algorithm_bandwidth(input, op, algorithm, protocol);
}

/// Nodes of eight Hopper with a fabric that reduces.
TuningInput reducing(int nodes, Version version, int capability = 90) {
  TuningInput input = nodes_of(8, nodes, version, capability);
  input.job.collnet = true;
  return input;
}

}  // namespace

TEST_CASE("a ring carries its channels inside up to two nodes, and between more") {
  const Version version{2, 20, 5};
  CHECK(of(nodes_of(8, 1, version), ring, kSimple) == Approx(160 * kAll));
  CHECK(of(nodes_of(8, 2, version), ring, kSimple) == Approx(160 * 16.0 / 30));
  CHECK(of(nodes_of(8, 3, version), ring, kSimple) == Approx(80 * 24.0 / 46));
  for (const CollectiveOp op : {kGather, CollectiveOp::reduce_scatter})
    CHECK(of(nodes_of(8, 1, version), ring, kSimple, op) == Approx(160 * 8.0 / 7));
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce})
    CHECK(of(nodes_of(8, 1, version), ring, kSimple, op) == Approx(160));
}

TEST_CASE("versions that did not trust NVSwitch: A100 until 2.17, Hopper in 2.17") {
  const auto bus_of = [](int capability) {
    return [=](const Version& v) { return of(nodes_of(8, 1, v, capability, 12), ring, kSimple) / kAll; };
  };
  check_versions({{{2, 5, 0}, 480}, {{2, 7, 0}, 480 * .92}, {{2, 7, 8}, 235}, {{2, 18, 0}, 480}}, bus_of(80));
  check_versions({{{2, 5, 0}, 480}, {{2, 17, 0}, 370}, {{2, 18, 0}, 480}}, bus_of(90));
  check_versions({{{2, 5, 0}, 480}}, bus_of(86));
}

TEST_CASE("LL takes a quarter of a ring, a third to gather or broadcast on one node, half since NCCL 2.21") {
  const auto bus_of = [](CollectiveOp op, int nodes) {
    return [=](const Version& v) {
      TuningInput input = nodes_of(8, nodes, v, 86);
      input.job.cpu = CpuVendor::intel;
      input.ring.bw_intra = 12;
      const double ranks = input.job.ranks;
      const double steps = op == kReduce ? 2 * (ranks - 1) : op == kGather ? ranks - 1 : ranks;
      return of(input, ring, kLl, op) * steps / ranks;
    };
  };
  for (const CollectiveOp op : {kReduce, CollectiveOp::reduce})
    check_versions({{{2, 5, 0}, 12}, {{2, 21, 0}, 24}}, bus_of(op, 1));
  for (const CollectiveOp op : {kGather, CollectiveOp::broadcast}) {
    check_versions({{{2, 5, 0}, 16}, {{2, 21, 0}, 24}}, bus_of(op, 1));
    check_versions({{{2, 5, 0}, 12}, {{2, 21, 0}, 24}}, bus_of(op, 2));
  }
}

TEST_CASE("LL's limit cuts rings and trees from NCCL 2.8 on, an AMD host's on several nodes") {
  const auto ring_of = [](CpuVendor cpu) {
    return [=](const Version& v) {
      TuningInput input = nodes_of(8, 2, v, 70, 8);  // 320 / 4
      input.job.cpu = cpu;
      return of(input, ring, kLl) * 30 / 16;
    };
  };
  check_versions({{{2, 5, 0}, 80}, {{2, 8, 0}, 39}}, ring_of(CpuVendor::intel));
  check_versions({{{2, 5, 0}, 80}, {{2, 8, 0}, 22.5}}, ring_of(CpuVendor::amd));
  TuningInput input = nodes_of(8, 2, {2, 10, 3}, 80, 8);  // 8 * 23.6 / 3.8 = 49.7
  CHECK(of(input, tree, kLl) == Approx(39.0 / 2));
  input.job.cpu = CpuVendor::amd;
  CHECK(of(input, tree, kLl) == Approx(22.5 / 2));
}

TEST_CASE("LL128 reaches 92 percent of a ring, 70 with one GPU per node from NCCL 2.7 to 2.22") {
  const auto bus_of = [](int per_node) {
    return [=](const Version& v) {
      TuningInput input = nodes_of(per_node, 2, v, 70);
      input.ring.bw_intra = 10;
      return of(input, ring, kLl128, CollectiveOp::broadcast) / 40;
    };
  };
  check_versions({{{2, 5, 0}, .92}}, bus_of(8));
  check_versions({{{2, 5, 0}, .92}}, bus_of(2));
  check_versions({{{2, 5, 0}, .92}, {{2, 7, 0}, .7}, {{2, 23, 0}, .92}}, bus_of(1));
  CHECK(of(nodes_of(8, 1, {2, 20, 5}), ring, kLl128) == Approx(4 * 20 * kAll));  // the limit of A100
}

TEST_CASE("a tree moves every byte twice at 92 percent, a 3.8th of it by LL, 7/9 by LL128 on one node") {
  const auto slow = [](int nodes, Version version) {
    TuningInput input = nodes_of(8, nodes, version);
    input.tree.bw_intra = 10;
    return input;
  };
  check_versions({{{2, 5, 0}, .9 * 40 / 2}, {{2, 8, 0}, .92 * 40 / 2}},
                 [&](const Version& v) { return of(slow(1, v), tree, kSimple); });
  CHECK(of(slow(1, {2, 20, 5}), tree, kLl) == Approx(.92 * 40 / 3.8 / 2));
  CHECK(of(slow(1, {2, 20, 5}), tree, kLl128) == Approx(.92 * 40 * 7 / 9 / 2));
  CHECK(of(slow(2, {2, 20, 5}), tree, kLl128) == Approx(.92 * 40 * 120 / 128 / 2));
  CHECK(of(nodes_of(8, 1, {2, 20, 5}), tree, kSimple) == Approx(4 * 24.0 / 2));  // the limit of A100
  CHECK(of(nodes_of(8, 3, {2, 20, 5}), tree, kSimple) == Approx(4 * 17.8 / 2));
}

TEST_CASE("LL128 on A100 went further in a tree of NCCL 2.7") {
  TuningInput input = nodes_of(8, 1, {2, 7, 8}, 80, 12);  // 235 * .9 = 211
  CHECK(of(input, tree, kSimple) == Approx(110.0 / 2));
  CHECK(of(input, tree, kLl128) == Approx(130 * 7.0 / 9 / 2));
  input = nodes_of(8, 1, {2, 7, 8}, 70, 12);
  CHECK(of(input, tree, kLl128) == Approx(110 * 7.0 / 9 / 2));
}

TEST_CASE("CollNetDirect shares its NICs, and loses 15 percent on Hopper since NCCL 2.18") {
  // f = 8 GPUs / 4 channels = 2, and half of what is more than one counts
  check_versions({{{2, 8, 0}, 160 * .9 / 2}, {{2, 14, 0}, 160 / 1.5 / 2}, {{2, 18, 0}, 160 / 1.5 / 2 * .85}},
                 [](const Version& v) { return of(reducing(4, v), collnet_direct, kSimple); });
  check_versions({{{2, 14, 0}, 160 / 1.5 / 2}},
                 [](const Version& v) { return of(reducing(4, v, 80), collnet_direct, kSimple); });
  check_versions({{{2, 8, 0}, 160 * .9 / 6 / 2}, {{2, 14, 0}, 0}},
                 [](const Version& v) { return of(reducing(4, v, 86), collnet_direct, kLl); });
  check_versions({{{2, 8, 0}, 0}},
                 [](const Version& v) { return of(reducing(4, v, 80), collnet_direct, kLl128); });
}

TEST_CASE("CollNetDirect gathers since NCCL 2.20, by GPUs of a node, since 2.27 by its NICs") {
  const auto gather = [](int per_node) {
    return [=](const Version& v) {
      TuningInput input = nodes_of(per_node, 2, v, 90);
      input.job.collnet = true;
      return of(input, collnet_direct, kSimple, kGather);
    };
  };
  check_versions({{{2, 20, 0}, 8 * 40 * .85}, {{2, 27, 0}, 8 * .9 * 20}}, gather(8));
  check_versions({{{2, 20, 0}, 4 * 40 * (3 * .85 + 4 * .95) / 7}, {{2, 27, 0}, 4 * .9 * 20}}, gather(4));
}

TEST_CASE("CollNetChain halves what its channels carry, at three quarters until NCCL 2.17") {
  check_versions({{{2, 14, 0}, 160 * .75 / 2}, {{2, 18, 0}, 160.0 / 2}},
                 [](const Version& v) { return of(reducing(4, v), collnet_chain, kSimple); });
  CHECK(of(reducing(4, {2, 20, 5}), collnet_chain, kLl) == 0);
}

TEST_CASE("a switch that sums: five sixths of the slower side, three quarters before NCCL 2.18.3") {
  check_versions({{{2, 17, 0}, 160 * .75},
                  {{2, 18, 3}, 160 * 5.0 / 6},
                  {{2, 19, 0}, 80 * 5.0 / 6},
                  {{2, 28, 0}, 4 * 20 * 16.0 / 30}},
                 [](const Version& v) { return of(reducing(2, v), nvls, kSimple); });
  // to gather, 7/8 of the inner speed or 0.9 of the NIC since 2.27
  check_versions(
      {{{2, 19, 0}, 80 * 5.0 / 6}, {{2, 27, 0}, 4 * .9 * 20 * 5 / 6}, {{2, 28, 0}, 80 * 16.0 / 15}},
      [](const Version& v) { return of(reducing(2, v), nvls, kSimple, kGather); });
  TuningInput one = nodes_of(8, 1, {2, 27, 3}, 90);
  CHECK(of(one, nvls, kSimple, kGather) == Approx(4 * 40 * 7.0 / 8 * 5 / 6));
}

TEST_CASE("since NCCL 2.28 one channel of a switch is lost, and a share by generation") {
  for (const auto& [capability, reached] : {std::pair{90, .85}, {100, .74}}) {
    const TuningInput input = nodes_of(8, 1, {2, 28, 3}, capability);
    CHECK(of(input, nvls, kSimple) == Approx(4 * 40 * reached * 3 / 4 * 2 * kAll));
    CHECK(of(input, nvls, kSimple, kGather) == Approx(4 * 40 * reached * 3 / 4 * 7 / 8 * 8 / 7));
  }
  TuningInput two = nodes_of(8, 1, {2, 28, 3}, 90, 2);
  CHECK(of(two, nvls, kSimple) == Approx(2 * 40 * .85 / 2 * 2 * kAll));
  two.nvls.channels = 1;
  CHECK(of(two, nvls, kSimple) == 0);
}

TEST_CASE("NVLSTree uses a NIC both ways on two nodes, once on more, and has a limit since NCCL 2.28") {
  const auto tree_of = [](int nodes) {
    return [=](const Version& v) { return of(nodes_of(8, nodes, v, 90), nvls_tree, kSimple); };
  };
  check_versions({{{2, 18, 0}, 160 * .7 * 2 / 2},
                  {{2, 18, 3}, 160 * 5.0 / 6},
                  {{2, 19, 0}, 80 * 5.0 / 6},
                  {{2, 28, 0}, 4 * 40 * 16.0 / 30}},
                 tree_of(2));
  check_versions({{{2, 18, 0}, 80 * .7 * 4 / 6},
                  {{2, 18, 3}, 80 * 5.0 / 6},
                  {{2, 19, 0}, 40 * 5.0 / 6},
                  {{2, 28, 0}, 4 * 20 * 32.0 / 62}},
                 tree_of(4));
  TuningInput fast = nodes_of(8, 2, {2, 28, 3}, 90);
  fast.nvls.bw_intra = fast.nvls.bw_inter = 200;
  CHECK(of(fast, nvls_tree, kSimple) == Approx(4 * 57.7 * 16 / 30));
}

TEST_CASE("parallel aggregated trees reach 85 percent, 75 since NCCL 2.24, of every byte once") {
  check_versions({{{2, 23, 0}, 80 * .85}, {{2, 24, 0}, 80 * .75}},
                 [](const Version& v) { return of(nodes_of(1, 4, v), pat, kSimple, kGather); });
}

TEST_CASE("CollNet needs a fabric that reduces and several nodes, its direct form since 2.14 an NVSwitch") {
  for (const auto collnet : {collnet_direct, collnet_chain}) {
    CHECK(of(reducing(2, {2, 20, 5}), collnet, kSimple) > 0);
    CHECK(of(nodes_of(8, 2, {2, 20, 5}), collnet, kSimple) == 0);
    CHECK(of(reducing(1, {2, 20, 5}), collnet, kSimple) == 0);
  }
  TuningInput plain = reducing(2, {2, 20, 5});
  plain.job.nvswitch = false;
  CHECK(of(plain, collnet_chain, kSimple) > 0);
  CHECK(of(plain, collnet_direct, kSimple) == 0);
  plain.job.version = {2, 13, 4};
  CHECK(of(plain, collnet_direct, kSimple) == Approx(160 * .9 / 2));
  // 2.7 gave it one wherever its search found channels
  CHECK(of(nodes_of(8, 1, {2, 7, 8}, 70), collnet_direct, kSimple) == Approx(160 * .9 / 2));
  CHECK(of(nodes_of(8, 1, {2, 8, 0}, 70), collnet_direct, kSimple) == 0);
}

TEST_CASE("the switches need Hopper, NVSwitches, and between nodes a fabric that reduces or a tree") {
  const Version version{2, 20, 5};
  CHECK(of(nodes_of(8, 1, version, 90), nvls, kSimple) > 0);
  CHECK(of(nodes_of(8, 1, version, 90), nvls_tree, kSimple) == 0);
  CHECK(of(nodes_of(8, 2, version, 90), nvls, kSimple) == 0);
  CHECK(of(nodes_of(8, 2, version, 90), nvls_tree, kSimple) > 0);
  CHECK(of(reducing(2, version), nvls, kSimple) > 0);
  TuningInput without = nodes_of(8, 2, version, 90);
  without.job.nvswitch = false, without.job.collnet = true;
  CHECK(of(without, nvls, kSimple) == 0);
  CHECK(of(without, nvls_tree, kSimple) == 0);
  CHECK(of(nodes_of(8, 1, version, 89), nvls, kSimple) == 0);
  CHECK(of(nodes_of(8, 2, version, 89), nvls_tree, kSimple) == 0);
  TuningInput not_found = nodes_of(8, 1, version, 90);
  not_found.nvls.channels = not_found.ring.channels = 0;
  CHECK(of(not_found, nvls, kSimple) == 0);
  CHECK(of(not_found, ring, kSimple) == 0);
}

TEST_CASE("LL128 waits for a GPU generation that NCCL trusts, alike in the whole job") {
  const auto is_safe = [](int capability) {
    return [=](const Version& v) -> double {
      return ll128_is_safe(nodes_of(8, 2, v, capability), kReduce, ring) ? 1 : 0;
    };
  };
  check_versions({{{2, 5, 0}, 1}}, is_safe(70));
  check_versions({{{2, 5, 0}, 1}}, is_safe(80));
  check_versions({{{2, 5, 0}, 0}, {{2, 27, 0}, 1}}, is_safe(75));
  check_versions({{{2, 5, 0}, 0}, {{2, 27, 0}, 1}}, is_safe(86));
  check_versions({{{2, 5, 0}, 0}, {{2, 15, 0}, 1}}, is_safe(90));
  check_versions({{{2, 5, 0}, 0}, {{2, 25, 0}, 1}}, is_safe(100));
  check_versions({{{2, 5, 0}, 0}, {{2, 25, 0}, 1}}, is_safe(120));
  check_versions({{{2, 5, 0}, 0}}, is_safe(61));
  TuningInput mixed = nodes_of(8, 2, {2, 27, 3}, 80);
  mixed.job.max_compute_capability = 86;
  CHECK_FALSE(ll128_is_safe(mixed, kReduce, ring));
}

TEST_CASE(
    "LL128 waits for NVLink, since NCCL 2.18.3 also through a GPU, and a NIC within PXB, PXN on Hopper") {
  const auto with = [](PathClass intra, PathClass inter, int capability) {
    return [=](const Version& v) -> double {
      TuningInput input = nodes_of(8, 2, v, capability);
      input.ring.type_intra = intra, input.ring.type_inter = inter;
      return ll128_is_safe(input, kReduce, ring) ? 1 : 0;
    };
  };
  check_versions({{{2, 5, 0}, 0}, {{2, 18, 3}, 1}}, with(PathClass::nvb, PathClass::pix, 80));
  check_versions({{{2, 5, 0}, 0}}, with(PathClass::c2c, PathClass::pix, 80));
  check_versions({{{2, 5, 0}, 1}}, with(PathClass::nvl, PathClass::pxb, 80));
  check_versions({{{2, 5, 0}, 0}}, with(PathClass::nvl, PathClass::pxn, 80));
  check_versions({{{2, 15, 0}, 0}, {{2, 17, 0}, 1}}, with(PathClass::nvl, PathClass::pxn, 90));
  check_versions({{{2, 15, 0}, 0}}, with(PathClass::nvl, PathClass::phb, 90));
}

TEST_CASE("built with CUDA 11.8, LL128 is off for rings of two Hopper that all-reduce") {
  TuningInput pair = nodes_of(2, 1, {2, 20, 5}, 90);
  CHECK(ll128_is_safe(pair, kReduce, ring));
  pair.job.cuda_11_8 = true;
  CHECK_FALSE(ll128_is_safe(pair, kReduce, ring));
  CHECK(ll128_is_safe(pair, kGather, ring));
  CHECK(ll128_is_safe(pair, kReduce, tree));
  pair.job.ranks = 3;
  CHECK(ll128_is_safe(pair, kReduce, ring));
  pair.job.ranks = 2, pair.job.min_compute_capability = pair.job.max_compute_capability = 80;
  CHECK(ll128_is_safe(pair, kReduce, ring));
}

}  // namespace tuning_bandwidth_test

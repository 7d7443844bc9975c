// Caps and latencies of NCCL's tuner at the versions that changed them (docs/sources/nccl_tuning.md 1.2 and
// 1.3).
#include "sim/collective/nccl/tuning_tables.hpp"

#include <cmath>

#include "tests/unit/collective/nccl/tuning_question.hpp"

namespace tuning_tables_test {

using namespace foretrain;
using namespace foretrain::nccl;
using namespace foretrain::test;

namespace {

using enum GpuClass;
constexpr CollectiveOp kReduce = CollectiveOp::all_reduce;

/// Of ten channels, on nodes of one class of GPU.
void check_ring(GpuClass gpu, int nodes, std::initializer_list<Since> rows) {
  CAPTURE(static_cast<int>(gpu), nodes);
  check_versions(rows, [&](const Version& v) { return ring_ll128_cap(v, gpu, kReduce, nodes, 10) / 10; });
}
void check_tree128(GpuClass gpu, int nodes, std::initializer_list<Since> rows) {
  CAPTURE(static_cast<int>(gpu), nodes);
  check_versions(rows, [&](const Version& v) { return tree_ll128_cap(v, gpu, kReduce, nodes, 10) / 10; });
}
void check_tree(GpuClass gpu, int nodes, std::initializer_list<Since> rows) {
  CAPTURE(static_cast<int>(gpu), nodes);
  check_versions(rows, [&](const Version& v) { return tree_cap(v, gpu, nodes, 10, false) / 10; });
}

void check_hops(nccl::Algorithm algorithm, Hop hop, Protocol protocol, std::initializer_list<Since> rows) {
  CAPTURE(name_of(algorithm), static_cast<int>(hop), foretrain::name_of(protocol));
  check_versions(rows, [&](const Version& v) { return hop_latency_us(v, hop, algorithm, protocol); });
}
void check_base(nccl::Algorithm algorithm, Protocol protocol, std::initializer_list<Since> rows) {
  CAPTURE(name_of(algorithm), foretrain::name_of(protocol));
  check_versions(rows, [&](const Version& v) { return base_latency_us(v, algorithm, protocol); });
}

}  // namespace

TEST_CASE("a GPU that a version of NCCL does not know counts as the newest it does") {
  const auto class_of = [](int capability) {
    return [=](const Version& v) { return static_cast<double>(gpu_class(v, capability)); };
  };
  check_versions({{{2, 5, 0}, 0}}, class_of(70));
  check_versions({{{2, 5, 0}, 0}}, class_of(75));
  check_versions({{{2, 5, 0}, 1}}, class_of(80));
  check_versions({{{2, 5, 0}, 1}}, class_of(89));
  check_versions({{{2, 5, 0}, 1}, {{2, 15, 0}, 2}}, class_of(90));
  check_versions({{{2, 5, 0}, 1}, {{2, 15, 0}, 2}, {{2, 25, 0}, 3}}, class_of(100));
  check_versions({{{2, 5, 0}, 1}, {{2, 15, 0}, 2}, {{2, 25, 0}, 3}}, class_of(120));
}

TEST_CASE("LL's limit follows the GPU on one node and the CPU on several, from NCCL 2.8 on") {
  CHECK(std::isinf(ll_cap({2, 7, 99}, ampere, false, 1)));
  check_versions({{{2, 8, 0}, 39}}, [](const Version& v) { return ll_cap(v, volta, false, 1); });
  check_versions({{{2, 8, 0}, 87.7}}, [](const Version& v) { return ll_cap(v, ampere, false, 1); });
  check_versions({{{2, 8, 0}, 87.7}, {{2, 21, 0}, 141}},
                 [](const Version& v) { return ll_cap(v, hopper, false, 1); });
  check_versions({{{2, 8, 0}, 87.7}, {{2, 21, 0}, 141}, {{2, 25, 0}, 282}},
                 [](const Version& v) { return ll_cap(v, blackwell, false, 1); });
  for (const GpuClass gpu : {volta, ampere, hopper, blackwell}) {
    CHECK(ll_cap({2, 30, 0}, gpu, false, 2) == 39);
    CHECK(ll_cap({2, 30, 0}, gpu, false, 3) == 20.4);
    CHECK(ll_cap({2, 30, 0}, gpu, true, 2) == 22.5);
    CHECK(ll_cap({2, 30, 0}, gpu, true, 64) == 19);
  }
}

TEST_CASE("LL128's limit was the collective's until NCCL 2.9, in all and then for each channel") {
  struct Row {
    CollectiveOp op;
    double in_all, channel, since_28;
  };
  for (const Row& row : {Row{CollectiveOp::broadcast, 113, 18.8, 18.8}, Row{CollectiveOp::reduce, 72, 12, 12},
                         Row{CollectiveOp::all_gather, 110, 18.3, 18.3},
                         Row{CollectiveOp::reduce_scatter, 91, 15.2, 15.2}, Row{kReduce, 100, 16.7, 16.9}}) {
    const std::initializer_list<Since> rows{{{2, 5, 0}, row.in_all},
                                            {{2, 7, 0}, 8 * row.channel},
                                            {{2, 8, 0}, 8 * row.since_28},
                                            {{2, 10, 0}, 160}};
    check_versions(rows, [&](const Version& v) { return ring_ll128_cap(v, ampere, row.op, 2, 8); });
    check_versions(rows, [&](const Version& v) { return tree_ll128_cap(v, ampere, row.op, 2, 8); });
  }
}

TEST_CASE("LL128's limits of a channel, by generation and number of nodes") {
  check_ring(volta, 1, {{{2, 10, 0}, 20}});
  check_ring(hopper, 1, {{{2, 10, 0}, 20}, {{2, 17, 0}, 36.7}});
  check_ring(blackwell, 1, {{{2, 17, 0}, 36.7}, {{2, 25, 0}, 73.4}, {{2, 29, 0}, 40}});
  check_ring(blackwell, 2, {{{2, 17, 0}, 36.7}, {{2, 25, 0}, 73.4}, {{2, 28, 0}, 34.6}, {{2, 29, 0}, 40}});
  check_ring(blackwell, 3, {{{2, 17, 0}, 36.7}, {{2, 25, 0}, 73.4}, {{2, 29, 0}, 40}});
  check_tree128(hopper, 2, {{{2, 10, 0}, 20}, {{2, 17, 0}, 36.7}});
  check_tree128(hopper, 3, {{{2, 10, 0}, 20}, {{2, 17, 0}, 36.7}, {{2, 18, 3}, 29}});
  check_tree128(blackwell, 1, {{{2, 17, 0}, 36.7}, {{2, 25, 0}, 73.4}, {{2, 28, 0}, 55.6}});
  check_tree128(blackwell, 2, {{{2, 17, 0}, 36.7}, {{2, 25, 0}, 73.4}, {{2, 28, 0}, 31.67}});
  check_tree128(blackwell, 3, {{{2, 18, 3}, 29}, {{2, 25, 0}, 58}, {{2, 28, 0}, 20}});
}

TEST_CASE("a tree's limit is for all channels before NCCL 2.8, and of a channel since") {
  CHECK(tree_cap({2, 6, 99}, ampere, 1, 10, true) == 90);
  CHECK(tree_cap({2, 6, 99}, ampere, 2, 10, true) == 70);
  for (const int nodes : {1, 2}) {
    CHECK(tree_cap({2, 7, 0}, ampere, nodes, 10, false) == 110);
    CHECK(tree_cap({2, 7, 99}, ampere, nodes, 10, true) == 130);
  }
  CHECK(tree_cap({2, 7, 0}, ampere, 3, 10, false) == 80);
  CHECK(tree_cap({2, 7, 99}, ampere, 3, 10, true) == 105);
  check_tree(volta, 1, {{{2, 8, 0}, 26.5}});
  check_tree(volta, 2, {{{2, 8, 0}, 18.5}});
  check_tree(volta, 3, {{{2, 8, 0}, 10}});
  check_tree(ampere, 1, {{{2, 8, 0}, 24}});
  check_tree(ampere, 2, {{{2, 8, 0}, 22.5}, {{2, 10, 0}, 23.6}});
  check_tree(ampere, 3, {{{2, 8, 0}, 16}, {{2, 10, 0}, 17.8}});
  check_tree(hopper, 1, {{{2, 10, 0}, 24}, {{2, 17, 0}, 38.7}});
  check_tree(hopper, 2, {{{2, 10, 0}, 23.6}, {{2, 17, 0}, 41.4}});
  check_tree(hopper, 3, {{{2, 10, 0}, 17.8}, {{2, 17, 0}, 33}, {{2, 18, 3}, 36}});
  check_tree(blackwell, 1, {{{2, 18, 3}, 38.7}, {{2, 25, 0}, 77.4}, {{2, 28, 0}, 70}});
  check_tree(blackwell, 2, {{{2, 18, 3}, 41.4}, {{2, 25, 0}, 82.8}, {{2, 28, 0}, 42.8}});
  check_tree(blackwell, 3, {{{2, 18, 3}, 36}, {{2, 25, 0}, 72}, {{2, 28, 0}, 24}});
}

TEST_CASE("a channel of NVLSTree has a limit since NCCL 2.28") {
  CHECK(std::isinf(nvls_tree_channel_cap({2, 27, 99}, hopper, 2)));
  CHECK(nvls_tree_channel_cap({2, 28, 0}, hopper, 1) == 0);
  CHECK(nvls_tree_channel_cap({2, 28, 0}, ampere, 2) == 0);
  CHECK(nvls_tree_channel_cap({2, 28, 0}, hopper, 2) == 57.7);
  CHECK(nvls_tree_channel_cap({2, 30, 0}, hopper, 3) == 45.5);
  CHECK(nvls_tree_channel_cap({2, 29, 99}, blackwell, 2) == 96);
  check_versions({{{2, 28, 0}, 43.8}, {{2, 30, 0}, 80}},
                 [](const Version& v) { return nvls_tree_channel_cap(v, blackwell, 3); });
}

TEST_CASE("what a collective costs once, by version") {
  using enum nccl::Algorithm;
  check_base(tree, Protocol::ll, {{{2, 5, 0}, 4.4}, {{2, 18, 0}, 6.8}});
  check_base(tree, Protocol::ll128, {{{2, 5, 0}, 4.4}, {{2, 18, 0}, 14}});
  check_base(tree, Protocol::simple, {{{2, 5, 0}, 0}, {{2, 23, 0}, 8.4}});
  check_base(ring, Protocol::ll, {{{2, 5, 0}, 3.6}, {{2, 18, 0}, 6.6}});
  check_base(ring, Protocol::ll128, {{{2, 5, 0}, 3.6}, {{2, 7, 0}, 10}, {{2, 18, 0}, 14}});
  check_base(ring, Protocol::simple, {{{2, 5, 0}, 8.4}});
  for (const auto collnet : {collnet_direct, collnet_chain})
    check_base(collnet, Protocol::ll, {{{2, 5, 0}, 0}, {{2, 7, 0}, 4.4}, {{2, 18, 0}, 6.8}, {{2, 19, 0}, 0}});
  for (const auto switched : {nvls, nvls_tree})
    check_base(switched, Protocol::simple,
               {{{2, 16, 0}, 0}, {{2, 17, 0}, 40}, {{2, 18, 0}, 23}, {{2, 19, 0}, 0}});
  check_base(pat, Protocol::simple, {{{2, 22, 0}, 0}, {{2, 23, 0}, 8}});
}

TEST_CASE("what a step of a tree or a ring costs over each kind of link, by version") {
  using enum Hop;
  const auto tree = nccl::Algorithm::tree, ring = nccl::Algorithm::ring;
  check_hops(tree, nvlink, Protocol::ll, {{{2, 5, 0}, .5}, {{2, 7, 0}, .52}, {{2, 18, 0}, .6}});
  check_hops(tree, nvlink, Protocol::ll128, {{{2, 5, 0}, 1.9}, {{2, 7, 0}, 1.2}, {{2, 8, 0}, 1.25}});
  check_hops(tree, nvlink, Protocol::simple,
             {{{2, 5, 0}, 28}, {{2, 18, 3}, 4}, {{2, 19, 0}, 28}, {{2, 23, 0}, 4}});
  check_hops(tree, pcie, Protocol::simple,
             {{{2, 5, 0}, 28}, {{2, 18, 3}, 6}, {{2, 19, 0}, 28}, {{2, 23, 0}, 4}});
  check_hops(tree, network, Protocol::ll128, {{{2, 5, 0}, 7.5}, {{2, 7, 0}, 8.5}});
  check_hops(tree, network, Protocol::simple,
             {{{2, 5, 0}, 50}, {{2, 8, 0}, 28}, {{2, 18, 3}, 14}, {{2, 19, 0}, 28}, {{2, 23, 0}, 14}});
  check_hops(ring, nvlink, Protocol::ll, {{{2, 5, 0}, .4}, {{2, 7, 0}, .47}, {{2, 18, 0}, .6}});
  check_hops(ring, nvlink, Protocol::simple, {{{2, 5, 0}, 5.7}, {{2, 7, 0}, 3.4}});
  check_hops(ring, pcie, Protocol::ll128, {{{2, 5, 0}, 2.5}});
  check_hops(ring, network, Protocol::ll, {{{2, 5, 0}, .9}, {{2, 7, 0}, 2.7}});
  check_hops(ring, network, Protocol::simple,
             {{{2, 5, 0}, 6.6}, {{2, 7, 0}, 9.6}, {{2, 12, 0}, 28}, {{2, 14, 0}, 9.6}, {{2, 18, 0}, 14}});
}

TEST_CASE("what a step of CollNet or of the switches costs over each kind of link, by version") {
  using enum Hop;
  using enum nccl::Algorithm;
  check_hops(collnet_direct, nvlink, Protocol::simple,
             {{{2, 5, 0}, 0}, {{2, 7, 0}, 4}, {{2, 10, 0}, 8}, {{2, 19, 0}, 3.7}});
  check_hops(collnet_direct, pcie, Protocol::simple,
             {{{2, 5, 0}, 0}, {{2, 7, 0}, 5.5}, {{2, 10, 0}, 8}, {{2, 19, 0}, 3.7}});
  check_hops(collnet_direct, network, Protocol::simple,
             {{{2, 5, 0}, 0}, {{2, 7, 0}, 10.7}, {{2, 19, 0}, 31}});
  check_hops(collnet_chain, nvlink, Protocol::simple,
             {{{2, 5, 0}, 0}, {{2, 14, 0}, 8}, {{2, 18, 0}, 4.75}, {{2, 19, 0}, 2.8}});
  check_hops(collnet_chain, pcie, Protocol::simple, {{{2, 5, 0}, 0}, {{2, 14, 0}, 8}, {{2, 19, 0}, 2.8}});
  check_hops(collnet_chain, network, Protocol::simple,
             {{{2, 5, 0}, 0}, {{2, 14, 0}, 10.7}, {{2, 18, 0}, 14}, {{2, 19, 0}, 30}});
  check_hops(nvls, nvlink, Protocol::simple, {{{2, 5, 0}, 0}, {{2, 19, 0}, 23}, {{2, 21, 0}, 25}});
  check_hops(nvls, network, Protocol::simple, {{{2, 5, 0}, 0}, {{2, 18, 0}, 18}});
  check_hops(nvls_tree, nvlink, Protocol::simple, {{{2, 5, 0}, 0}, {{2, 19, 0}, 23}, {{2, 21, 0}, 25}});
  check_hops(nvls_tree, network, Protocol::simple,
             {{{2, 5, 0}, 0}, {{2, 18, 0}, 19}, {{2, 19, 0}, 14}, {{2, 28, 0}, 20.9}});
}

}  // namespace tuning_tables_test

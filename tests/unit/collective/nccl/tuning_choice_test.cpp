// What NCCL considers, and what it makes of a cell's latency and bandwidth (docs/sources/nccl_tuning.md 1 and
// 1.1).
#include "tests/unit/collective/nccl/tuning_question.hpp"

namespace tuning_choice_test {

using namespace foretrain;
using namespace foretrain::nccl;
using namespace foretrain::test;

namespace {

constexpr CollectiveOp kReduce = CollectiveOp::all_reduce, kGather = CollectiveOp::all_gather;
using enum nccl::Algorithm;

/// Every cell 10 us and 5 GB/s: a byte takes 0.2 ns.
TuningTable even_table(Version version, int ranks = 8, int nodes = 1, int capability = 80) {
  TuningTable table;
  table.job.version = version, table.job.ranks = ranks, table.job.nodes = nodes, table.job.channels = 4;
  table.job.min_compute_capability = table.job.max_compute_capability = capability;
  table.job.collnet = true;
  for (const CollectiveOp op : {kReduce, kGather})
    for (const auto algorithm : kAlgorithms)
      for (const Protocol protocol : kProtocols) table.at(op, algorithm, protocol) = {10, 5};
  return table;
}

double us(const TuningTable& table, std::int64_t bytes, nccl::Algorithm algorithm, Protocol protocol,
          CollectiveOp op = kReduce, int grouped = 1) {
  return predicted_us(table, op, bytes, algorithm, protocol, grouped).value();
}

/// Share of its bandwidth that a tree is given.
double share_of(const TuningTable& table, std::int64_t bytes, Protocol protocol,
                nccl::Algorithm algorithm = tree) {
  return static_cast<double>(bytes) / 5000 / (us(table, bytes, algorithm, protocol) - 10);
}

/// How much more latency a ring pays.
auto plateau(std::int64_t bytes, int ranks, int nodes, int capability) {
  return [=](const Version& v) {
    const TuningTable table = even_table(v, ranks, nodes, capability);
    return (us(table, bytes, ring, Protocol::simple) - static_cast<double>(bytes) / 5000) / 10;
  };
}

auto considers(CollectiveOp op, nccl::Algorithm algorithm, int per_node = 8) {
  return [=](const Version& v) -> double {
    const TuningInput input = nodes_of(per_node, 4, v);
    return is_considered(input.job, op, algorithm, Protocol::simple) ? 1 : 0;
  };
}

constexpr double kLl[]{1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1};
constexpr double kLl128[]{1,  1,  1,  1,  1,  .9, .8, .8, .8, .7, .6, .6,
                          .6, .6, .6, .6, .8, .9, .9, .9, .9, 1,  1};
constexpr double kSimple[]{.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
                           .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9};

}  // namespace

TEST_CASE("a tree's bandwidth is cut at middle sizes, power of two by power of two from 64 B to 256 MiB") {
  const TuningTable table = even_table({2, 20, 5});
  for (unsigned k = 6; k < 23; ++k) {  // below, latency leaves no digits to tell
    CAPTURE(k);
    for (const std::int64_t bytes : {std::int64_t{64} << k, (std::int64_t{128} << k) - 1}) {
      CHECK(share_of(table, bytes, Protocol::ll) == Approx(kLl[k]).epsilon(.002));
      CHECK(share_of(table, bytes, Protocol::ll128) == Approx(kLl128[k]).epsilon(.002));
      CHECK(share_of(table, bytes, Protocol::simple) == Approx(kSimple[k]).epsilon(.002));
    }
  }
  CHECK(us(table, 64, tree, Protocol::simple) == Approx(10 + .0128 / .9));
  CHECK(us(table, 1, tree, Protocol::simple) == Approx(10 + .0002 / .9));
  CHECK(us(table, std::int64_t{64} << 6, ring, Protocol::ll) == Approx(10 + 4096 / 5000.0));
}

TEST_CASE("beyond 256 MiB a tree has all of its bandwidth, since NCCL 2.29 the last share") {
  check_versions({{{2, 5, 0}, 1}, {{2, 29, 0}, .9}}, [](const Version& v) {
    return share_of(even_table(v), std::int64_t{64} << 23, Protocol::simple);
  });
  // 2.7 had an entry less, 2.5 none
  check_versions({{{2, 5, 0}, 1}, {{2, 8, 0}, .9}}, [](const Version& v) {
    return share_of(even_table(v), std::int64_t{64} << 22, Protocol::simple);
  });
  check_versions({{{2, 5, 0}, 1}, {{2, 7, 0}, .5}}, [](const Version& v) {
    return share_of(even_table(v), std::int64_t{64} << 11, Protocol::simple);
  });
}

TEST_CASE("until NCCL 2.9 LL128's shares were others at six sizes") {
  struct Row {
    unsigned k;
    double before, since;
  };
  for (const Row& row : {Row{13, .5, .6}, Row{16, .7, .8}, Row{17, .7, .9}, Row{18, .8, .9}, Row{21, .92, 1},
                         Row{22, .92, 1}}) {
    CAPTURE(row.k);
    check_versions({{{2, 8, 0}, row.before}, {{2, 10, 0}, row.since}}, [&](const Version& v) {
      return share_of(even_table(v), std::int64_t{64} << row.k, Protocol::ll128);
    });
  }
}

TEST_CASE("NVLSTree has the shares of a tree on Blackwell with an x86 host, since NCCL 2.29") {
  const auto share_on = [](int capability, CpuVendor cpu) {
    return [=](const Version& v) {
      TuningTable table = even_table(v, 16, 2, capability);
      table.job.cpu = cpu;
      return share_of(table, std::int64_t{64} << 11, Protocol::simple, nvls_tree);
    };
  };
  for (const CpuVendor cpu : {CpuVendor::intel, CpuVendor::amd}) {
    check_versions({{{2, 18, 0}, 1}, {{2, 29, 0}, .5}}, share_on(100, cpu));
    check_versions({{{2, 18, 0}, 1}}, share_on(90, cpu));
  }
  for (const CpuVendor cpu : {CpuVendor::arm, CpuVendor::power})
    check_versions({{{2, 18, 0}, 1}}, share_on(100, cpu));
}

TEST_CASE("a ring over nodes pays more latency once its chunks are full") {
  // 2.7 to 2.17: from ranks / 16 * 64 KiB on
  const std::int64_t full = 65536;
  check_versions({{{2, 5, 0}, 1}, {{2, 7, 0}, 1.9}, {{2, 18, 0}, 1.4}}, plateau(full, 16, 2, 80));
  check_versions({{{2, 5, 0}, 1}, {{2, 18, 0}, 1.4}}, plateau(full - 1, 16, 2, 80));
  check_versions({{{2, 5, 0}, 1}, {{2, 7, 0}, 1.9}, {{2, 17, 0}, 1.5}, {{2, 18, 0}, 1.4}},
                 plateau(full, 16, 2, 90));
  check_versions({{{2, 5, 0}, 1}, {{2, 7, 0}, 1.9}}, plateau(full, 16, 2, 70));
  // since 2.18: from 64 bytes for every rank and channel on
  check_versions({{{2, 18, 0}, 1}}, plateau(64 * 4 * 16 - 1, 16, 2, 80));
  check_versions({{{2, 18, 0}, 1.4}}, plateau(64 * 4 * 16, 16, 2, 80));
  check_versions({{{2, 18, 0}, 1.9}}, plateau(64 * 4 * 16, 16, 2, 79));
}

TEST_CASE("the plateau is of rings between nodes alone, of Simple and of all-reduces") {
  const TuningTable table = even_table({2, 20, 5}, 16, 2);
  const std::int64_t bytes = 1 << 20;
  const double plain = 10 + bytes / 5000.0;
  CHECK(us(table, bytes, ring, Protocol::simple) == Approx(plain + 4));
  CHECK(us(table, bytes, ring, Protocol::ll) == Approx(plain));
  CHECK(us(table, bytes, nvls_tree, Protocol::simple) == Approx(plain));
  CHECK(us(table, bytes, ring, Protocol::simple, kGather) == Approx(plain));
  CHECK(us(even_table({2, 20, 5}, 16, 1), bytes, ring, Protocol::simple) == Approx(plain));
}

TEST_CASE("a kernel takes nine grouped operations, 62 since NCCL 2.22, and rings pay for each") {
  const auto paid = [](nccl::Algorithm algorithm, int grouped) {
    return [=](const Version& v) {
      return us(even_table(v), 0, algorithm, Protocol::ll, kGather, grouped) / 10;
    };
  };
  check_versions({{{2, 5, 0}, 1}}, paid(nvls, 9));
  check_versions({{{2, 5, 0}, 2}, {{2, 22, 0}, 1}}, paid(nvls, 10));
  check_versions({{{2, 5, 0}, 7}, {{2, 22, 0}, 1}}, paid(nvls, 62));
  check_versions({{{2, 5, 0}, 7}, {{2, 22, 0}, 2}}, paid(nvls, 63));
  check_versions({{{2, 5, 0}, 63}}, paid(ring, 63));
  check_versions({{{2, 5, 0}, 1}}, paid(ring, 0));
}

TEST_CASE("the first in NCCL's order wins a tie, and what is forced leaves only itself") {
  const TuningTable table = even_table({2, 20, 5});
  const Choice first = choose(table, kReduce, 64);
  CHECK(first.algorithm == tree);
  CHECK(first.protocol == Protocol::ll);
  CHECK(choose(table, kReduce, 64, {ring, {}}).protocol == Protocol::ll);
  CHECK(choose(table, kReduce, 64, {{}, Protocol::ll128}).algorithm == tree);
  CHECK(choose(table, kReduce, 64, {{}, Protocol::ll128}).protocol == Protocol::ll128);
  // of eight ranks on one node there is no CollNet, whatever its cell says
  CHECK_FALSE(choose(table, kReduce, 64, {collnet_direct, {}}).available);
  CHECK(choose(even_table({2, 20, 5}, 16, 2), kReduce, 64, {collnet_direct, {}}).available);
  TuningTable without = even_table({2, 20, 5}, 16, 2);
  without.job.collnet = false;
  CHECK_FALSE(choose(without, kReduce, 64, {collnet_chain, {}}).available);
}

TEST_CASE("which algorithms an operation has, since which version of NCCL") {
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce}) {
    for (const auto algorithm : kAlgorithms)
      check_versions({{{2, 5, 0}, algorithm == ring ? 1.0 : 0.0}}, considers(op, algorithm));
  }
  check_versions({{{2, 5, 0}, 1}}, considers(kReduce, tree));
  check_versions({{{2, 5, 0}, 1}}, considers(kReduce, ring));
  check_versions({{{2, 5, 0}, 0}, {{2, 7, 0}, 1}}, considers(kReduce, collnet_direct));
  check_versions({{{2, 5, 0}, 0}, {{2, 14, 0}, 1}}, considers(kReduce, collnet_chain));
  check_versions({{{2, 5, 0}, 0}, {{2, 17, 0}, 1}}, considers(kReduce, nvls));
  check_versions({{{2, 5, 0}, 0}, {{2, 18, 0}, 1}}, considers(kReduce, nvls_tree));
  check_versions({{{2, 5, 0}, 0}}, considers(kReduce, pat));
  for (const CollectiveOp op : {kGather, CollectiveOp::reduce_scatter}) {
    check_versions({{{2, 5, 0}, 1}}, considers(op, ring));
    for (const auto never : {tree, collnet_chain, nvls_tree})
      check_versions({{{2, 5, 0}, 0}}, considers(op, never));
    check_versions({{{2, 5, 0}, 0}, {{2, 20, 0}, 1}}, considers(op, collnet_direct));
    check_versions({{{2, 5, 0}, 0}, {{2, 18, 0}, 1}}, considers(op, nvls));
    check_versions({{{2, 5, 0}, 0}, {{2, 23, 0}, 1}}, considers(op, pat, 1));
    check_versions({{{2, 5, 0}, 0}}, considers(op, pat, 2));
  }
}

TEST_CASE("switches and parallel trees have Simple alone") {
  const TuningInput input = nodes_of(1, 4, {2, 24, 3}, 90);
  for (const Protocol protocol : {Protocol::ll, Protocol::ll128}) {
    for (const auto algorithm : {nvls, nvls_tree})
      CHECK_FALSE(is_considered(input.job, kReduce, algorithm, protocol));
    CHECK_FALSE(is_considered(input.job, kGather, pat, protocol));
    for (const auto algorithm : {tree, ring, collnet_direct, collnet_chain})
      CHECK(is_considered(input.job, kReduce, algorithm, protocol));
  }
}

TEST_CASE("a job of one rank has nothing to forecast, and cells of operations do not mix") {
  const TuningTable alone = tuning_table(nodes_of(1, 1, {2, 20, 5}));
  CHECK(alone.at(kReduce, ring, Protocol::simple).latency_us == 0);
  TuningTable table = even_table({2, 20, 5});
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce, CollectiveOp::reduce_scatter})
    CHECK(table.at(op, ring, Protocol::simple).latency_us == 0);
  table.at(CollectiveOp::reduce_scatter, pat, Protocol::simple) = {7, 7};
  CHECK(table.at(kReduce, tree, Protocol::ll).latency_us == 10);
  CHECK_FALSE(is_tuned(CollectiveOp::alltoall));
}

}  // namespace tuning_choice_test

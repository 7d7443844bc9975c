// Collectives of a job that was measured take the measured time; every other job the model's.
#include "sim/collective/measured_time.hpp"

#include <numeric>

#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace measured_time_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

constexpr double kMiB = 1 << 20;

/// Two pieces with a gap between them: 8 B to 64 KiB at 40 us + bytes / 4 GB/s, 1 MiB to 64 MiB at 60 us +
/// bytes / 8 GB/s.
CalibratedCollective two_pieces(int gpus, int nodes, const std::string& op = "all_reduce") {
  return {op,
          gpus,
          nodes,
          0,
          "",
          "",
          {{8, 65536, 40e-6, 1 / 4e9, 0.02, 8}, {kMiB, 64 * kMiB, 60e-6, 1 / 8e9, 0.02, 7}}};
}

ClusterSpec with(ClusterSpec cluster, std::vector<CalibratedCollective> collectives) {
  cluster.calibration.collectives = std::move(collectives);
  return cluster;
}

double seconds_of(const OneJob& job, double bytes, CollectiveOp op = CollectiveOp::all_reduce) {
  return to_seconds(job.plan(op, static_cast<std::int64_t>(bytes)).back_to_back());
}

/// To the picosecond, three of which may be rounded on the way.
Approx about(double seconds) { return Approx(seconds).epsilon(1e-6); }

/// One node of four V100 whose launches take 10 us each: four of them hide a small collective.
ClusterSpec slow_launches() {
  ClusterSpec cluster = nvlink_cluster(1, 1);
  cluster.calibration.constants.push_back({"nccl.launch", 10e-6, 0, 0, 0, 0, 0});
  return cluster;
}

/// The same, whose collective of all sizes was measured at the same time, by so many processes.
ClusterSpec always(double seconds, int processes_per_node) {
  return with(slow_launches(),
              {{"all_reduce", 4, 1, processes_per_node, "", "", {{1, 1e12, seconds, 0, 0, 3}}}});
}

}  // namespace

TEST_CASE("on a piece a measured collective takes latency and bytes over bandwidth") {
  const CalibratedCollective measured = two_pieces(8, 2);
  CHECK(measured_seconds(measured, 8) == Approx(40e-6 + 8 / 4e9));
  CHECK(measured_seconds(measured, 65536) == Approx(40e-6 + 65536 / 4e9));
  CHECK(measured_seconds(measured, kMiB) == Approx(60e-6 + kMiB / 8e9));
  CHECK(measured_seconds(measured, 3 * kMiB) == Approx(60e-6 + 3 * kMiB / 8e9));
}

TEST_CASE("between two pieces a straight line joins their ends") {
  const double end = 40e-6 + 65536 / 4e9, begin = 60e-6 + kMiB / 8e9, middle = (65536 + kMiB) / 2;
  CHECK(measured_seconds(two_pieces(8, 2), middle) == Approx((end + begin) / 2));
  CHECK(measured_seconds(two_pieces(8, 2), 65536 + 0.25 * (kMiB - 65536)) ==
        Approx(0.75 * end + 0.25 * begin));
}

TEST_CASE("the job that was measured takes what was measured, at measured sizes and between them") {
  const CalibratedCollective measured = two_pieces(8, 2);
  const OneJob job(with(nvlink_cluster(2, 2), {measured}), 8);
  for (const double bytes : {8.0, 4096.0, 65536.0, 300e3, kMiB, 10 * kMiB, 64 * kMiB}) {
    INFO(bytes << " bytes");
    CHECK(seconds_of(job, bytes) == about(measured_seconds(measured, bytes)));
  }
}

TEST_CASE("beyond the measured sizes the model is off by what it is at the nearest one") {
  const CalibratedCollective measured = two_pieces(8, 2);
  const OneJob plain(nvlink_cluster(2, 2), 8), job(with(nvlink_cluster(2, 2), {measured}), 8);
  const double above = measured_seconds(measured, 64 * kMiB) / seconds_of(plain, 64 * kMiB);
  CHECK(seconds_of(job, 512 * kMiB) == about(above * seconds_of(plain, 512 * kMiB)));
  const double below = measured_seconds(measured, 8) / seconds_of(plain, 8);
  CHECK(seconds_of(job, 4) == about(below * seconds_of(plain, 4)));
}

TEST_CASE("down a chain the back-to-back time is the measured one, not the time of one alone") {
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce}) {
    const CalibratedCollective measured = two_pieces(8, 2, std::string(name_of(op)));
    const OneJob job(with(nvlink_cluster(2, 2), {measured}), 8);
    for (const double bytes : {65536.0, 16 * kMiB}) {
      INFO(name_of(op) << ", " << bytes << " bytes");
      CHECK(seconds_of(job, bytes, op) == about(measured_seconds(measured, bytes)));
      const CollectivePlan plan = job.plan(op, static_cast<std::int64_t>(bytes));
      CHECK(plan.alone > plan.back_to_back());
    }
  }
}

TEST_CASE("every operation of the job that was measured takes the measured time") {
  for (const CollectiveOp op : kCollectiveOps) {
    const CalibratedCollective measured = two_pieces(8, 2, std::string(name_of(op)));
    const OneJob job(with(nvlink_cluster(2, 2), {measured}), 8);
    INFO(name_of(op));
    CHECK(seconds_of(job, 8 * kMiB, op) == about(measured_seconds(measured, 8 * kMiB)));
  }
}

TEST_CASE("other operations, numbers of GPUs and numbers of nodes take the model's time") {
  const ClusterSpec plain = nvlink_cluster(4, 2), measured = with(plain, {two_pieces(8, 2)});
  const Placement packed = place_packed(8, 4), spread = place(8, 4, Layout::spread, 4);
  CHECK(seconds_of(OneJob(measured, packed), kMiB) != seconds_of(OneJob(plain, packed), kMiB));
  CHECK(seconds_of(OneJob(measured, packed), kMiB, CollectiveOp::all_gather) ==
        seconds_of(OneJob(plain, packed), kMiB, CollectiveOp::all_gather));
  CHECK(seconds_of(OneJob(measured, 16), kMiB) == seconds_of(OneJob(plain, 16), kMiB));
  CHECK(seconds_of(OneJob(measured, 4), kMiB) == seconds_of(OneJob(plain, 4), kMiB));
  CHECK(seconds_of(OneJob(measured, spread), kMiB) ==
        seconds_of(OneJob(plain, spread), kMiB));  // 8 GPUs, but on 4 nodes
}

TEST_CASE("a measurement with a forced algorithm or protocol speaks of jobs that force the same") {
  using Algorithm = nccl::Algorithm;
  CalibratedCollective measured = two_pieces(8, 2);
  measured.algorithm = "ring", measured.protocol = "simple";
  const ClusterSpec plain = nvlink_cluster(2, 2), cluster = with(plain, {measured});
  const auto same = forced(Algorithm::ring, Protocol::simple);
  CHECK(seconds_of(OneJob(cluster, 8, same), kMiB) == about(measured_seconds(measured, kMiB)));
  for (const CollectiveSettings& other :
       {CollectiveSettings{}, forced(Algorithm::ring), forced(std::nullopt, Protocol::simple),
        forced(Algorithm::tree, Protocol::simple), forced(Algorithm::ring, Protocol::ll)})
    CHECK(seconds_of(OneJob(cluster, 8, other), kMiB) == seconds_of(OneJob(plain, 8, other), kMiB));
  // And one of NCCL's own choice says nothing of jobs that force.
  CHECK(seconds_of(OneJob(with(plain, {two_pieces(8, 2)}), 8, same), kMiB) ==
        seconds_of(OneJob(plain, 8, same), kMiB));
}

TEST_CASE("of two measurements of a job the one with the same processes is taken") {
  CalibratedCollective one = two_pieces(8, 2), four = two_pieces(8, 2);
  four.processes_per_node = 1, four.segments[1].latency_s = 90e-6;
  const ClusterSpec cluster = with(nvlink_cluster(2, 2), {four, one});
  CollectiveSettings one_process;
  one_process.processes_per_node = 1;
  CHECK(seconds_of(OneJob(cluster, 8), kMiB) == about(60e-6 + kMiB / 8e9));
  CHECK(seconds_of(OneJob(cluster, 8, one_process), kMiB) == about(90e-6 + kMiB / 8e9));
}

TEST_CASE("one process per GPU and as many processes as the node has GPUs are the same job") {
  CalibratedCollective each = two_pieces(8, 2), one = two_pieces(8, 2);
  each.processes_per_node = 4, one.processes_per_node = 1, one.segments[1].latency_s = 90e-6;
  const OneJob job(with(nvlink_cluster(2, 2), {one, each}), 8);  // 0 processes: one per GPU
  CHECK(seconds_of(job, kMiB) == about(60e-6 + kMiB / 8e9));
}

TEST_CASE(
    "where the launches alone explain a measured time, it is theirs and the collective stays as it is") {
  // One process launches on four GPUs, one after the other.
  CollectiveSettings one_process;
  one_process.processes_per_node = 1;
  const OneJob plain(slow_launches(), 4, one_process);
  const CollectivePlan before = plain.plan(CollectiveOp::all_reduce, 8);
  REQUIRE(before.launch > before.alone);
  const double measured = 1.2 * to_seconds(before.launch);  // as noise has it
  const CollectivePlan after = OneJob(always(measured, 1), 4, one_process).plan(CollectiveOp::all_reduce, 8);
  CHECK(to_seconds(after.back_to_back()) == about(measured));
  CHECK(after.alone == before.alone);
  CHECK(after.latency == before.latency);
}

TEST_CASE("launches of other processes that hide a collective leave a job without them as it is") {
  const CollectivePlan before = OneJob(slow_launches(), 4).plan(CollectiveOp::all_reduce, 8);
  const double four_launches = 4 * to_seconds(before.launch);
  REQUIRE(to_seconds(before.alone) < four_launches);
  const CollectivePlan after = OneJob(always(four_launches, 1), 4).plan(CollectiveOp::all_reduce, 8);
  CHECK(after.alone == before.alone);
  CHECK(after.launch == before.launch);
}

TEST_CASE("a measured time far above the launches of its processes is the collective's in every job") {
  const OneJob job(always(500e-6, 1), 4);
  CHECK(seconds_of(job, 8) == about(500e-6));
}

TEST_CASE("a job is as fast as measured even where the model's launch alone takes longer") {
  const CollectivePlan before = OneJob(slow_launches(), 4).plan(CollectiveOp::all_reduce, 8);
  const double measured = 0.5 * to_seconds(before.launch);
  CHECK(seconds_of(OneJob(always(measured, 0), 4), 8) == about(measured));
}

TEST_CASE("all parts of a measured collective are stretched alike") {
  const OneJob plain(nvlink_cluster(2, 2), 8), job(with(nvlink_cluster(2, 2), {two_pieces(8, 2)}), 8);
  const CollectivePlan before = plain.plan(CollectiveOp::all_reduce, 16 << 20),
                       after = job.plan(CollectiveOp::all_reduce, 16 << 20);
  const double factor = to_seconds(after.alone) / to_seconds(before.alone);
  CHECK(to_seconds(after.latency) == about(factor * to_seconds(before.latency)));
  CHECK(to_seconds(after.timing.data) == about(factor * to_seconds(before.timing.data)));
  CHECK(after.stretch == about(factor * before.stretch));
  CHECK(to_seconds(after.timing.total()) == about(to_seconds(after.alone)));
  CHECK(after.algorithm == before.algorithm);
  CHECK(after.channels == before.channels);
}

TEST_CASE("a measured collective without pieces, and a message of nothing, are the model's") {
  CalibratedCollective empty = two_pieces(8, 2);
  empty.segments.clear();
  const OneJob plain(nvlink_cluster(2, 2), 8);
  CHECK(seconds_of(OneJob(with(nvlink_cluster(2, 2), {empty}), 8), kMiB) == seconds_of(plain, kMiB));
  CHECK(seconds_of(OneJob(with(nvlink_cluster(2, 2), {two_pieces(8, 2)}), 8), 0) == seconds_of(plain, 0));
}

}  // namespace measured_time_test

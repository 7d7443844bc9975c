// Published times of collectives against the model: error statistics over all training rows, and single
// figures with their sources.
#include <algorithm>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "tests/measured/known_misses.hpp"
#include "tests/measured/measured_rows.hpp"
#include "tests/support/catch.hpp"

namespace collective_times {

using namespace foretrain;
using test::Figure;

namespace {

CollectiveValidation collectives_validated() {
  return validate_collectives(test::measured_rows("nccl.csv").collective, {});
}

/// all_reduce over the given GPUs of one node, or over whole nodes.
double busbw(const ClusterSpec& spec, const Placement& placement, Bytes size) {
  const Cluster cluster = Cluster::build(spec, placement.nodes);
  const CollectivePlan plan = Communicator(cluster, placement).plan(CollectiveOp::all_reduce, size);
  return static_cast<double>(size.count) / to_seconds(plan.alone) *
         busbw_factor(CollectiveOp::all_reduce, placement.size()) / 1e9;
}

double busbw_of_pair(const std::string& cluster, int a, int b) {
  return busbw(open_cluster(cluster), {{{0, a}, {0, b}}, 1}, {32 << 20});
}

double busbw_of_nodes(const std::string& cluster, int nodes, Bytes size) {
  const ClusterSpec spec = open_cluster(cluster);
  return busbw(spec, place(nodes * spec.node.gpus, spec.node.gpus, Layout::packed, nodes), size);
}

/// Median error of some operations over both lots of rows; nothing was fitted to the second.
double median_of_both(const std::vector<std::string>& ops) {
  std::vector<double> errors;
  for (const char* file : {"nccl.csv", "nccl_2.csv"}) {
    for (const ValidatedCollectiveSeries& series :
         validate_collectives(test::measured_rows(file).collective, {}).series) {
      if (std::ranges::find(ops, series.op) == ops.end()) continue;
      for (const ValidatedCollective& point : series.points) errors.push_back(point.error);
    }
  }
  REQUIRE(errors.size() >= 250);
  std::ranges::nth_element(errors, errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2));
  return errors[errors.size() / 2];
}

constexpr Bytes kLarge{std::int64_t{4} << 30};
constexpr double kGoalOfNineInTen = 0.45;

}  // namespace

TEST_CASE(
    "open nccl-tests rows are met within 15 percent in the median, and within 10 percent from 4 MiB on") {
  const CollectiveValidation v = collectives_validated();
  INFO("median " << v.error.median << ", p90 " << v.error.p90 << ", large " << v.large.median << ", scored "
                 << v.scored);
  CHECK(v.scored >= 1700);
  CHECK(v.skipped.empty());
  CHECK(v.error.median <= 0.15);
  CHECK(v.large.median <= 0.10);
  CHECK(v.error.median < v.nccl_model.median / 2);
}

TEST_CASE(
    "both lots of rows: broadcast and reduce are met within 15 percent in the median, alltoall within 20") {
  CHECK(median_of_both({"broadcast", "reduce"}) <= 0.15);
  CHECK(median_of_both({"alltoall"}) <= 0.20);
}

// docs/accuracy_collectives.md says which effect is missing in each series that is listed.
TEST_CASE(
    "nine of ten open nccl-tests rows are met within 45 percent, in all and in each series but for known "
    "misses") {
  const CollectiveValidation v = collectives_validated();
  CHECK(v.series.size() >= 69);
  std::vector<Figure> figures{Figure::at_most("all series", kGoalOfNineInTen, v.error.p90)};
  for (const ValidatedCollectiveSeries& series : v.series)
    figures.push_back(Figure::at_most(series.series, kGoalOfNineInTen, series.p90));
  test::check_figures("collective_times/p90", figures);
}

TEST_CASE("pairs of a DGX-1 reach 22.0 and 42.4 GB/s over one and two NVLinks, and 5.6 where there is none") {
  CHECK(busbw_of_pair("dgx1-v100", 0, 1) == Approx(22.0).epsilon(0.08));
  CHECK(busbw_of_pair("dgx1-v100", 0, 3) == Approx(42.4).epsilon(0.08));
  // 16 % too slow since both ways through host memory share one rate (docs/models/collectives.md).
  CHECK(busbw_of_pair("dgx1-v100", 0, 5) == Approx(5.6).epsilon(0.17));
}

TEST_CASE("the rings of a DGX-1 carry 130 GB/s, those of an NVSwitch node of A100 230 GB/s") {
  CHECK(busbw_of_nodes("dgx1-v100", 1, kLarge) == Approx(130).epsilon(0.05));
  CHECK(busbw_of_nodes("hgx-a100-80gb", 1, kLarge) == Approx(230).epsilon(0.05));
}

TEST_CASE("two nodes exceed the rate of their NICs by trees, four nodes do not") {
  const double h100 = busbw_of_nodes("nebius-h100", 2, kLarge);  // 8 x 400 Gb/s: 400 GB/s; measured 463
  CHECK(h100 > 400);
  CHECK(h100 == Approx(463).epsilon(0.08));
  CHECK(busbw_of_nodes("alps-gh200", 2, kLarge) == Approx(158).epsilon(0.1));  // 4 x 25 GB/s
  CHECK(busbw_of_nodes("alps-gh200", 4, kLarge) == Approx(92).epsilon(0.05));
}

TEST_CASE("one HDR port for four A100 gives a quarter of what four give") {
  ClusterSpec four = open_cluster("perlmutter");
  four.fabric.link = open_cluster("dgx-a100-hdr").fabric.link;
  ClusterSpec one = four;
  one.node.nics = 1;
  std::erase_if(one.node.links, [](const NodeLink& link) {
    const auto is_other_nic = [](const std::string& name) {
      return name.starts_with("nic") && name != "nic0";
    };
    return is_other_nic(link.a) || is_other_nic(link.b);
  });
  const Placement placement = place(32, 4, Layout::packed, 8);
  CHECK(busbw(four, placement, kLarge) / busbw(one, placement, kLarge) == Approx(4).epsilon(0.1));
}

}  // namespace collective_times

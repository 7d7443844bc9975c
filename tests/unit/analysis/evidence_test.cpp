// What machines and networks are told apart by, and how sure a collective is.
#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/spreads/kinds.hpp"
#include "sim/analysis/uncertainty/collective_spread.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace evidence_test {

using namespace foretrain;

TEST_CASE("messages go over NVLink or PCIe in a node, over its kind of network between nodes") {
  CHECK(path_of(open_cluster("puhti"), 1) == MessagePath::nvlink);
  CHECK(path_of(open_cluster("rtx4090-2gpu"), 1) == MessagePath::pcie);
  CHECK(path_of(open_cluster("puhti"), 2) == MessagePath::infiniband);
  CHECK(path_of(open_cluster("polaris"), 2) == MessagePath::slingshot);
  CHECK(path_of(open_cluster("aws-p4d"), 2) == MessagePath::efa);
  CHECK(path_of(open_cluster("aws-p3dn-tcp"), 2) == MessagePath::sockets);
}

TEST_CASE("a collective's interval lies around its time, and is wider on a cluster that nobody measured") {
  CollectiveQuestion question;
  question.cluster = open_cluster("dgx1-v100");
  question.gpus = 8, question.sizes = {Bytes{1 << 20}};
  const CollectivePoint measured = predict_collective(question).points.at(0);
  question.cluster.collectives_measured = false;
  const CollectivePoint unseen = predict_collective(question).points.at(0);
  const TimeRange known = interval_of(measured).value(), wide = interval_of(unseen).value();
  CHECK(measured.time == unseen.time);
  CHECK(known.low < measured.time);
  CHECK(known.high > measured.time);
  CHECK(wide.low <= known.low);
  CHECK(wide.high >= known.high);
  question.gpus = 1, question.sizes = {Bytes{0}};
  CHECK(!interval_of(predict_collective(question).points.at(0)));
}

TEST_CASE("a job whose collectives were measured is known to the error between sizes") {
  CollectiveQuestion question;
  question.cluster = open_cluster("dgx1-v100");
  question.gpus = 8, question.sizes = {Bytes{1 << 20}};
  question.cluster.calibration.collectives.push_back(
      {"all_reduce", 8, 1, 0, "", "", {{8, 1 << 24, 1e-5, 1e-10, 0.02, 9}}});
  CHECK(predict_collective(question).points.at(0).reach.above <= kReach * kMeasuredCollectives);
}

}  // namespace evidence_test

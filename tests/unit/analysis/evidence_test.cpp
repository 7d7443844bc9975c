// The written tables of spreads: whole, and what machines and networks are found in them.
#include "sim/analysis/uncertainty/evidence.hpp"

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/uncertainty/collective_spread.hpp"
#include "sim/analysis/uncertainty/uncertain_inputs.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/analysis/small_scenario.hpp"

namespace evidence_test {

using namespace foretrain;

TEST_CASE("every path, family and part has a spread, wider where no cluster was measured") {
  for (std::size_t path = 0; path < kMessagePathNames.size(); ++path)
    for (std::size_t family = 0; family < kOpFamilyNames.size(); ++family)
      for (std::size_t part = 0; part < kLongestPartNames.size(); ++part) {
        const KnownTo known = spread_of(
            {static_cast<MessagePath>(path), static_cast<OpFamily>(family), static_cast<LongestPart>(part)});
        CHECK(known.seen > 0);
        CHECK(known.unseen >= known.seen);
      }
}

TEST_CASE("kernels, the host and losses have spreads, wider where none was measured") {
  for (const KnownTo& known :
       {spread_of_kernels(NetworkKind::convolutions), spread_of_kernels(NetworkKind::any), spread_of_host(),
        loss_of(FrameworkKind::pytorch), loss_of(FrameworkKind::tensorflow),
        scatter_of(FrameworkKind::pytorch)}) {
    CHECK(known.unseen > 0);  // of machines that were measured the losses may explain all that is left
    CHECK(known.unseen >= known.seen);
  }
}

TEST_CASE("what is not modelled never shrinks with more nodes") {
  CHECK(loss_growth(1) == 1);
  for (double nodes = 1; nodes < 4096; nodes *= 1.5) CHECK(loss_growth(nodes * 1.5) >= loss_growth(nodes));
  CHECK(node_class(1) == 0);
  CHECK(node_class(2) == 1);
  CHECK(node_class(8) == 2);
  CHECK(node_class(9) == 3);
}

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
  CHECK(predict_collective(question).points.at(0).spread == kMeasuredCollectives);
}

}  // namespace evidence_test

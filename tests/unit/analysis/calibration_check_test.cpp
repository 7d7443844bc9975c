// What is held out from a fit and predicted then; platforms among samples of many.
#include "sim/analysis/fit/calibration_check.hpp"

#include "tests/unit/analysis/synthetic_samples.hpp"

namespace calibration_check_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

std::vector<Sample> all_reduces(int gpus, int nodes) {
  std::vector<Sample> samples;
  for (std::int64_t bytes = 1 << 12; bytes <= 1 << 28; bytes *= 4)
    samples.push_back(collective_sample("all_reduce", gpus, nodes, bytes));
  return samples;
}

ClusterSpec open(const std::string& name) {
  if (name == "star") return star_cluster(8, {12.3e9});
  throw InputError("unknown cluster \"" + name + "\"");
}

/// On a machine whose kernels start late and whose network is slow: 9 sizes.
std::vector<Sample> measured(int gpus, int nodes) {
  return measure(open("star"),
                 constants({{"nccl.kernel", 30e-6}, {"link.ib_hdr100.collective_efficiency", 0.6}}),
                 all_reduces(gpus, nodes), 1, 0);
}

Sample of_series(const std::string& cluster, const std::string& series,
                 const std::string& what = "all_reduce", int gpus = 8) {
  return collective_sample(what, gpus, 2, 8, {{"cluster", cluster}, {"series", series}});
}

}  // namespace

TEST_CASE("by sizes every second one is held out, from the second on") {
  const CalibrationCheck check = check_calibration({{"star", "star", measured(4, 4)}}, HoldOut::sizes, open);
  REQUIRE(check.checked.size() == 1);
  CHECK(check.checked[0].fitted == 5);  // of 9: the first, third, …, ninth
  CHECK(check.checked[0].held == 4);
  CHECK(check.fitted == 5);
  CHECK(check.held == 4);
}

TEST_CASE("of matrix products every second shape of a precision is held out") {
  std::vector<Sample> products;
  for (const char* precision : {"fp32", "fp16"}) {
    for (const char* n : {"512", "1024", "2048", "4096"}) {
      Sample sample;
      sample.kind = SampleKind::gemm, sample.what = "gemm", sample.value = 100;
      sample.settings = {{"m", "1024"}, {"n", n}, {"k", "1024"}, {"precision", precision}};
      products.push_back(sample);
    }
  }
  const CalibrationCheck check = check_calibration({{"star", "star", products}}, HoldOut::sizes, open);
  REQUIRE(check.checked.size() == 1);
  CHECK(check.checked[0].why_not.empty());
  CHECK(check.fitted == 4);
  CHECK(check.held == 4);
}

TEST_CASE("sizes measured twice are held out twice, or not at all") {
  std::vector<Sample> twice = measured(4, 4);
  const auto again = measured(4, 4);
  twice.insert(twice.end(), again.begin(), again.end());
  const CalibrationCheck check = check_calibration({{"star", "star", twice}}, HoldOut::sizes, open);
  CHECK(check.fitted == 10);
  CHECK(check.held == 8);
}

TEST_CASE("a calibration predicts sizes between those that it saw better than the defaults do") {
  const CalibrationCheck check = check_calibration({{"star", "star", measured(4, 4)}}, HoldOut::sizes, open);
  CHECK(check.after.median < 0.05);
  CHECK(check.after.median < check.before.median);
  CHECK(check.platforms == 1);
  CHECK(check.within_five_percent == 1);
}

TEST_CASE("by nodes all jobs on more than the fewest are held out, by GPUs those on more GPUs") {
  std::vector<Sample> all = measured(2, 2);
  for (const int nodes : {4, 8}) {
    const auto more = measured(nodes, nodes);
    all.insert(all.end(), more.begin(), more.end());
  }
  for (const HoldOut hold_out : {HoldOut::nodes, HoldOut::gpus}) {
    const CalibrationCheck check = check_calibration({{"star", "star", all}}, hold_out, open);
    CHECK(check.fitted == 9);
    CHECK(check.held == 18);
    CHECK(check.after.median < check.before.median);
  }
}

TEST_CASE(
    "a platform with nothing to keep back, or of an unknown cluster, says so and does not stop the others") {
  const std::vector<Platform> platforms{{"unknown", "nowhere", measured(2, 2)},
                                        {"star", "star", measured(4, 4)},
                                        {"one", "star", {measured(4, 4).front()}}};
  const CalibrationCheck check = check_calibration(platforms, HoldOut::sizes, open);
  REQUIRE(check.checked.size() == 3);
  CHECK(check.platforms == 1);
  for (const CheckedPlatform& row : check.checked) {
    INFO(row.name);
    if (row.name == "star") CHECK(row.why_not == "");
    if (row.name == "unknown") CHECK_THAT(row.why_not, ContainsSubstring("unknown cluster \"nowhere\""));
    if (row.name == "one") CHECK(row.why_not == "one size");
  }
  CHECK(check_calibration({{"star", "star", measured(4, 4)}}, HoldOut::nodes, open).checked[0].why_not ==
        "one number of nodes");
  CHECK(check_calibration({{"star", "star", measured(4, 4)}}, HoldOut::gpus, open).checked[0].why_not ==
        "one number of GPUs");
}

TEST_CASE("in-place times are not predicted either") {
  std::vector<Sample> samples = measured(4, 4);
  for (Sample sample : measured(4, 4)) {
    sample.settings.emplace_back("in_place", "1");
    samples.push_back(sample);
  }
  const CalibrationCheck check = check_calibration({{"star", "star", samples}}, HoldOut::sizes, open);
  CHECK(check.fitted == 5);
  CHECK(check.held == 4);
}

TEST_CASE("a run of a cluster is one platform, whatever operation, nodes and GPUs its series name") {
  const std::vector<Platform> platforms =
      platforms_of({of_series("polaris", "a100-polaris-2x4-ofi5-all_reduce"),
                    of_series("polaris", "a100-polaris-4x4-ofi5-all_gather", "all_gather"),
                    of_series("polaris", "a100-polaris-2x4-ofi6-all_reduce"), of_series("mahti", "8-a100"),
                    of_series("mahti", ""), Sample{}},
                   "mine");
  REQUIRE(platforms.size() == 5);
  std::vector<std::string> names;
  for (const Platform& platform : platforms)
    names.push_back(platform.name + " " + std::to_string(platform.samples.size()));
  CHECK(names == std::vector<std::string>{"mahti 1", "mahti (a100) 1", "mine 1",
                                          "polaris (a100-polaris-ofi5) 2", "polaris (a100-polaris-ofi6) 1"});
  CHECK(platforms[2].cluster == "mine");
  CHECK(platforms[3].cluster == "polaris");
  CHECK(platforms_of({}, "mine").empty());
}

}  // namespace calibration_check_test

// The table of nccl-tests, read back the way scripts read it.
#include <fstream>
#include <regex>
#include <sstream>

#include "sim/report/collective/collective_catalog.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_curve.hpp"

namespace nccl_tests_test {

using namespace foretrain;

namespace {

/// Lines that are neither empty nor comments, as words.
std::vector<std::vector<std::string>> rows(const std::string& text) {
  std::vector<std::vector<std::string>> out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    out.emplace_back(std::istream_iterator<std::string>(words), std::istream_iterator<std::string>());
  }
  return out;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("a row of nccl-tests has size, count, type, redop, root, and twice time, algbw, busbw, wrong") {
  const auto table = rows(write_nccl_tests(test::example_curve(), {}));
  REQUIRE(table.size() == 2);
  CHECK(table[0] == Words{"8", "2", "float", "sum", "-1", "10.00", "0.00", "0.00", "N/A", "10.00", "0.00",
                          "0.00", "N/A"});
  CHECK(table[1] == Words{"1073741824", "268435456", "float", "sum", "-1", "10000", "107.37", "161.06", "N/A",
                          "10000", "107.37", "161.06", "N/A"});
}

TEST_CASE("rows are as wide as those of nccl-tests") {
  const std::string text = write_nccl_tests(test::example_curve(), {});
  CHECK_THAT(text, ContainsSubstring("\n           8             2     float     sum      -1    10.00    "
                                     "0.00    0.00    N/A    10.00    0.00    0.00    N/A\n"));
}

TEST_CASE("operations with a root name rank 0, those with parts count one rank's elements") {
  CollectiveCurve curve = test::example_curve();
  curve.op = CollectiveOp::gather;
  const auto table = rows(write_nccl_tests(curve, {}));
  CHECK(Words(table[1].begin(), table[1].begin() + 5) ==
        Words{"1073741824", "67108864", "float", "none", "0"});
}

TEST_CASE("times have the digits nccl-tests gives them") {
  CollectiveCurve curve = test::example_curve();
  const auto printed = [&](double us) {
    curve.points[0].time = microseconds(us);
    return rows(write_nccl_tests(curve, {}))[0][5];
  };
  CHECK(printed(9.456) == "9.46");
  CHECK(printed(99.99) == "99.99");
  CHECK(printed(123.46) == "123.5");
  CHECK(printed(9999.94) == "9999.9");
  CHECK(printed(12345.6) == "12346");
}

TEST_CASE("the footer has the average bus bandwidth, which scripts look for") {
  const std::string text = write_nccl_tests(test::example_curve(), {});
  std::smatch found;
  REQUIRE(std::regex_search(text, found, std::regex("# Avg bus bandwidth    : ([0-9.]+)")));
  CHECK(std::stod(found[1]) == Approx(161.0613 / 2).epsilon(1e-4));  // (0.0012 + 161.06) / 2
}

TEST_CASE("the first line says that nothing was measured, and every rank has its line") {
  const std::string text = write_nccl_tests(test::example_curve(), {});
  CHECK(
      text.starts_with("# foretrain predicts, nothing was measured: all_reduce on 4 GPUs of 2 nodes of "
                       "puhti, NCCL 2.18.3, fidelity analytic\n"));
  CHECK_THAT(text, ContainsSubstring("#  Rank  2 Group  0 Pid      0 on node1 device  0 V100-SXM2-32GB\n"));
}

TEST_CASE("many ranks are not listed one by one") {
  CollectiveCurve curve = test::example_curve();
  curve.placement = place_packed(1000, 4);
  const std::string text = write_nccl_tests(curve, {});
  CHECK_THAT(text, ContainsSubstring("#  and 936 more\n"));
  CHECK(text.size() < 10'000);
}

TEST_CASE("warnings and explanations are comments") {
  CollectiveCurve curve = test::example_curve();
  curve.warnings = {"NVLS cannot do this"};
  curve.processes_per_node = 1;
  const std::string text = write_nccl_tests(curve, {.explain = true});
  CHECK(rows(text).size() == 2);
  CHECK_THAT(text, ContainsSubstring("# warning: NVLS cannot do this\n"));
  CHECK_THAT(
      text,
      ContainsSubstring(
          "# launch: 1 process per node; a process launches the kernels of its GPUs one after the other\n"));
  CHECK_THAT(text, ContainsSubstring("# 8 B: Tree, LL, 1 channel; start 4 us + steps 5 us + fill 0 s + data "
                                     "500 ns, launch 10 us; bound by launch; busiest "
                                     "link nic0 of node 0 to leaf0; Ring/LL 12 us\n"));
  CHECK_THAT(text, ContainsSubstring("# 1 GiB: Ring, Simple, 16 channels; start 8 us + steps 20 us + fill 2 "
                                     "us + data 9.97 ms, launch 10 us; bound by the link "
                                     "nic0 of node 0 to leaf0; Tree/Simple 11 ms, \"slower\"\n"));
}

TEST_CASE("a curve without sizes is an empty table") {
  CollectiveCurve curve = test::example_curve();
  curve.points.clear();
  CHECK(rows(write_nccl_tests(curve, {})).empty());
}

TEST_CASE("the heading of the columns is that of real logs") {
  std::ifstream log(FORETRAIN_SOURCE_DIR
                    "/../shared/samples/nccl_tests/git_a100_perlmutter_1x4_allreduce.log");
  if (!log) FORETRAIN_SKIP("there is no ../shared/samples here");
  const std::string ours = write_nccl_tests(test::example_curve(), {});
  int headings = 0;
  for (std::string line; std::getline(log, line);) {
    const bool heading = line.find("out-of-place") != std::string::npos ||
                         line.find("algbw") != std::string::npos ||
                         line.find("(elements)") != std::string::npos;
    if (!heading) continue;
    CHECK_THAT(ours, ContainsSubstring("\n" + line + "\n"));
    ++headings;
  }
  CHECK(headings == 3);
}

}  // namespace nccl_tests_test

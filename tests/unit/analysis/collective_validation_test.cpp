// Measured collectives against predictions on files made in memory.
#include "sim/analysis/validation/collective_validation.hpp"

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"

namespace collective_validation_test {

using namespace foretrain;

namespace {

CollectiveMeasurement row(const std::string& series, std::int64_t bytes, double time_us, int line = 2) {
  CollectiveMeasurement m;
  m.series = series, m.cluster = "puhti", m.op = "all_reduce", m.gpus = 4, m.nodes = 1, m.bytes = bytes,
  m.time_us = time_us, m.line = line;
  return m;
}

/// What is predicted for a row, in microseconds.
double predicted(const CollectiveMeasurement& m) {
  return validate_collectives({m}, {}).series.at(0).points.at(0).predicted;
}

}  // namespace

TEST_CASE("errors are relative to the measured time, and large sizes are also counted alone") {
  const double small = predicted(row("a", 1024, 1)), large = predicted(row("a", 64 << 20, 1));
  const CollectiveValidation v =
      validate_collectives({row("a", 1024, small / 1.5), row("a", 64 << 20, large / 0.9)}, {});
  CHECK(v.rows == 2);
  CHECK(v.scored == 2);
  CHECK(v.error.median == Approx(0.3));  // of +50 % and -10 %
  CHECK(v.error.bias == Approx(0.2));
  CHECK(v.large.median == Approx(0.1));
  CHECK(v.large_rows == 1);
  REQUIRE(v.series.size() == 1);
  CHECK(v.series[0].worst == Approx(0.5));
  CHECK(v.series[0].large_median == Approx(0.1));
}

TEST_CASE("NCCL's own forecast is the baseline of what NCCL forecasts") {
  CollectiveMeasurement peers = row("b", 1 << 20, 100);
  peers.op = "alltoall";
  const CollectiveValidation v = validate_collectives({row("a", 1 << 20, 100), peers}, {});
  CHECK(v.scored == 2);
  CHECK(v.nccl_rows == 1);
  CHECK(v.nccl_model.median > 0);
}

TEST_CASE("series stand worst first, their points by size") {
  const double good = predicted(row("", 1024, 1));
  const CollectiveValidation v = validate_collectives(
      {row("good", 4096, 1000), row("good", 1024, good), row("good", 512, good), row("bad", 1024, good * 9)},
      {});
  REQUIRE(v.series.size() == 2);
  CHECK(v.series[0].series == "bad");
  CHECK(v.series[1].points[0].bytes == 512);
  CHECK(v.series[1].points[2].bytes == 4096);
}

TEST_CASE("rows that cannot be predicted are skipped with line and reason") {
  CollectiveMeasurement cluster = row("a", 8, 1, 3), setting = row("a", 8, 1, 4), many = row("a", 8, 1, 5),
                        nodes = row("a", 8, 1, 6), nothing = row("a", 0, 1, 7);
  cluster.cluster = "puhtj";
  setting.settings = {{"nccl.algorythm", "ring"}};
  many.gpus = 100'000, many.nodes = 25'000;
  nodes.gpus = 9, nodes.nodes = 2;
  const CollectiveValidation v =
      validate_collectives({nothing, nodes, many, setting, cluster, row("a", 8, 20)}, {});
  CHECK(v.scored == 1);
  REQUIRE(v.skipped.size() == 5);
  CHECK(v.skipped[0].row == 3);
  CHECK_THAT(v.skipped[0].why, ContainsSubstring("unknown cluster \"puhtj\" (did you mean \"puhti\""));
  CHECK(v.skipped[1].why == "unknown key \"algorythm\" in [nccl] (did you mean \"algorithm\"?)");
  CHECK_THAT(v.skipped[2].why, ContainsSubstring("cluster puhti has 320 GPUs, not 100000"));
  CHECK_THAT(v.skipped[3].why, ContainsSubstring("9 GPUs do not fit on 2 nodes of puhti"));
  CHECK(v.skipped[4].why == "0 bytes: nothing is sent");
}

TEST_CASE("settings of a row count for that row, those of the command line for all") {
  CollectiveMeasurement forced = row("a", 64 << 20, 1);
  forced.settings = {{"nccl.algorithm", "ring"}, {"nccl.protocol", "ll"}};
  const double ll = predicted(forced), free = predicted(row("a", 64 << 20, 1));
  CHECK(ll > 1.2 * free);  // LL moves a flag with every 4 bytes
  const auto all = validate_collectives({row("a", 64 << 20, 1)}, {"nccl.algorithm=ring", "nccl.protocol=ll"});
  CHECK(all.series.at(0).points.at(0).predicted == Approx(ll));
  CHECK(all.series.at(0).points.at(0).algorithm == "Ring");
}

TEST_CASE(
    "a row that says nothing of its launch ran as nccl-tests usually does: one process for all GPUs of one "
    "node") {
  CollectiveMeasurement one = row("a", 8, 1);  // eight launches take longer than a small all_reduce
  one.cluster = "dgx-a100", one.gpus = 8;
  CollectiveMeasurement each = one, unsaid = one;
  one.settings = {{"launch.processes_per_node", "1"}};
  each.settings = {{"launch.processes_per_node", "8"}};
  CHECK(predicted(one) > predicted(each));
  CHECK(predicted(one) == predicted(unsaid));
}

TEST_CASE("a wrong setting of the command line stops, also without rows") {
  CHECK_THROWS_AS(validate_collectives({}, {"nccl.wrong=1"}), InputError);
}

TEST_CASE("no rows, no statistics") {
  const CollectiveValidation v = validate_collectives({}, {});
  CHECK(v.rows == 0);
  CHECK(v.series.empty());
  CHECK(v.error.median == 0);
}

TEST_CASE("progress goes from nothing towards all") {
  CollectiveMeasurement two = row("a", 8, 1);
  two.gpus = 2;
  std::vector<double> seen;
  validate_collectives({row("a", 8, 1), two}, {}, [&](double done) { seen.push_back(done); });
  CHECK(seen == std::vector<double>{0, 0.5});
}

}  // namespace collective_validation_test

// Which machine is named, from made-up rows.
#include "sim/analysis/search/machines.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_machines.hpp"

namespace machine_verdict_test {

using namespace foretrain;
using test::impossible_row;
using test::machine_row;

namespace {

MachineComparison judged(std::vector<MachineRow> rows, std::optional<double> deadline_s = std::nullopt) {
  MachineComparison c;
  c.rows = std::move(rows), c.deadline_s = deadline_s;
  judge_machines(c);
  return c;
}

MachineRow priced(MachineRow row, double cost) {
  row.cost = cost;
  return row;
}

}  // namespace

TEST_CASE("the verdict holds the winner against more GPUs of another cluster") {
  const MachineComparison c =
      judged({machine_row("p", "p100-pcie-16gb", 1, 1.3), machine_row("p", "p100-pcie-16gb", 2, 1.6),
              machine_row("v", "v100-pcie-16gb", 1, 1), machine_row("v", "v100-pcie-16gb", 2, 1.4)});
  CHECK_THAT(c.verdict,
             StartsWith("One V100 of v beats two P100 of p: 1.6 times faster and 69 % fewer "
                        "GPU-hours. It is the fastest and the cheapest of the 4 that can run it."));
  CHECK(c.best == 0);
  CHECK(c.fastest == 0);
  CHECK(c.cheapest == 0);
}

TEST_CASE("rows come fastest first, with their speed over the fastest, and impossible ones last") {
  const MachineComparison c =
      judged({impossible_row("small", "k80", 8, "it has 2 GPUs"), machine_row("p", "p100-pcie-16gb", 2, 2),
              machine_row("v", "v100-pcie-16gb", 1, 1)});
  CHECK(c.rows[0].cluster == "v");
  CHECK(c.rows[0].speed == 1);
  CHECK(c.rows[1].speed == 0.5);
  CHECK(c.rows[2].cluster == "small");
  CHECK(c.rows[2].speed == 0);
}

TEST_CASE("fastest and cheapest are both named where they differ, and none is best") {
  const MachineComparison c =
      judged({machine_row("v", "v100-pcie-16gb", 1, 2), machine_row("a", "a100-sxm4-40gb", 4, 1)});
  CHECK(c.verdict ==
        "Four A100 of a are fastest: 60 min for 4 GPU-hours. One V100 of v is cheapest: 2 h for 2 GPU-hours, "
        "2.0 times slower with half the GPU-hours.");
  CHECK(c.fastest == 0);
  CHECK(c.cheapest == 1);
  CHECK_FALSE(c.best);
}

TEST_CASE("machines that differ by less than two runs of one job tie") {
  const MachineComparison c =
      judged({machine_row("v", "v100-pcie-16gb", 1, 1), machine_row("w", "v100-sxm2-32gb", 1, 1.02)});
  CHECK(c.verdict ==
        "One V100 of v and one V100 of w tie: neither time nor GPU-hours differs by more than two runs of "
        "one job do.");
  // Just beyond: sqrt(2) times the spread of two runs is 2.8 %.
  CHECK_THAT(
      judged({machine_row("v", "v100-pcie-16gb", 1, 1), machine_row("w", "v100-sxm2-32gb", 1, 1.03)}).verdict,
      StartsWith("One V100 of v beats one V100 of w: 1.03 times faster and 3 % fewer GPU-hours."));
}

TEST_CASE("of machines alike in time the cheaper one wins") {
  const MachineComparison c =
      judged({machine_row("v", "v100-pcie-16gb", 2, 1), machine_row("a", "a100-sxm4-40gb", 1, 1.01)});
  CHECK(c.verdict == "One A100 of a is as fast as two V100 of v, for half the GPU-hours.");
  CHECK(c.rows[*c.best].cluster == "a");
}

TEST_CASE("costs decide what is cheapest where all are in one unit") {
  std::vector<MachineRow> rows{priced(machine_row("v", "v100-pcie-16gb", 1, 2), 10),
                               priced(machine_row("a", "a100-sxm4-40gb", 4, 1), 5)};
  CHECK_THAT(judged(rows).verdict, StartsWith("Four A100 of a are fastest"));
  MachineComparison c;
  c.rows = rows, c.counts_cost = true;
  judge_machines(c);
  CHECK_THAT(c.verdict, StartsWith("Four A100 of a beat one V100 of v: 2.0 times faster and half the cost."));
}

TEST_CASE("a deadline names the cheapest machine whose 95 percent end keeps it") {
  const std::vector<MachineRow> rows{machine_row("v", "v100-pcie-16gb", 1, 4),
                                     machine_row("a", "a100-sxm4-40gb", 2, 2.5),
                                     machine_row("h", "h100-sxm5-80gb", 8, 1)};
  // 4 h may become 4.8 h.
  CHECK(judged(rows, 4.5 * 3600).rows[1].cluster == "a");
  CHECK(judged(rows, 4.5 * 3600).best == 1);
  CHECK(judged(rows, 4.8 * 3600 + 1).best == 2);
  CHECK(judged(rows, 4.5 * 3600).verdict ==
        "Two A100 of a keep 4 h 30 min with 95 % for the fewest GPU-hours: 2 h 30 min for 5 GPU-hours. Eight "
        "H100 of h would be 2.5 times faster with 60 % more GPU-hours.");
  CHECK_THAT(judged(rows, 1.3 * 3600).verdict, ContainsSubstring(", and nothing else does: "));
}

TEST_CASE("a deadline that no machine keeps is answered with the fastest and its chance") {
  const MachineComparison c = judged({machine_row("v", "v100-pcie-16gb", 1, 4)}, 4.0 * 3600);
  CHECK_FALSE(c.best);
  CHECK(c.verdict ==
        "No machine keeps 4 h with 95 %. The fastest, one V100 of v, takes 4 h (90 %: 3 h 20 min to 4 h 50 "
        "min) "
        "and keeps it with 50 %.");
}

TEST_CASE("the verdict says when one cluster alone, or none, can run the training") {
  const MachineRow small = impossible_row("small", "k80", 2, "it does not fit");
  CHECK(judged({small}).verdict == "None of these machines can run this training.");
  CHECK_FALSE(judged({small}).fastest);
  CHECK(judged({small, machine_row("v", "v100-pcie-16gb", 1, 1)}).verdict ==
        "Only one V100 of v can run this training: 60 min for 1 GPU-hour.");
  CHECK_THAT(
      judged({small, machine_row("v", "v100-pcie-16gb", 1, 1), machine_row("v", "v100-pcie-16gb", 2, 2)})
          .verdict,
      ContainsSubstring("No other cluster can run it."));
}

TEST_CASE("one row alone is no comparison, and one cluster with both is named") {
  CHECK(judged({machine_row("v", "v100-pcie-16gb", 1, 1)}).verdict ==
        "One V100 of v takes 60 min for 1 GPU-hour.");
  CHECK_THAT(judged({machine_row("v", "v100-pcie-16gb", 1, 2), machine_row("v", "v100-pcie-16gb", 4, 1),
                     machine_row("p", "p100-pcie-16gb", 1, 4)})
                 .verdict,
             ContainsSubstring(" Both are on v."));
}

TEST_CASE("the chance of the order is that of two independent lognormal times") {
  const MachineRow fast = machine_row("v", "v100-pcie-16gb", 1, 1);
  CHECK(chance_of_faster(fast, fast) == 0.5);
  // The middles are as far apart as each end from its middle: 1.645 / sqrt(2) deviations.
  CHECK_THAT(chance_of_faster(fast, machine_row("p", "p100-pcie-16gb", 1, 1.2)),
             Catch::Matchers::WithinAbs(0.8776, 1e-3));
  CHECK_THAT(chance_of_faster(machine_row("p", "p100-pcie-16gb", 1, 1.2), fast),
             Catch::Matchers::WithinAbs(0.1224, 1e-3));
}

TEST_CASE("names of GPUs are short in sentences") {
  CHECK(short_gpu_name("v100-pcie-16gb") == "V100");
  CHECK(short_gpu_name("k80") == "K80");
  CHECK(short_gpu_name("rtx-2080ti") == "RTX 2080TI");
}

}  // namespace machine_verdict_test

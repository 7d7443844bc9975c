// Reports of collectives against approved texts in tests/golden/approved; a wanted change is approved by
// copying what the failing test prints.

#include <fmt/format.h>

#include "sim/report/collective/busbw_chart.hpp"
#include "sim/report/collective/collective_catalog.hpp"
#include "sim/report/prediction/json.hpp"
#include "sim/report/validation/validation_catalog.hpp"
#include "tests/support/approved.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/example_curve.hpp"

namespace collective_reports {

using namespace foretrain;
using test::approved;

namespace {

CollectiveValidation example_validation() {
  CollectiveValidation v;
  v.rows = 4, v.scored = 3;
  v.skipped = {{5, "unknown cluster \"nowhere\""}};
  v.error = statistics_of({0.5, -0.1, 0.02}), v.large = statistics_of({-0.1}),
  v.nccl_model = statistics_of({0.2, 0.4});
  v.large_rows = 1, v.nccl_rows = 2;
  v.series = {{"one node",
               "dgx1-v100",
               "all_reduce",
               8,
               1,
               0.3,
               0.5,
               0.5,
               0.2,
               0.1,
               {{8, 20, 30, 0.5, 15, 60, {}, {}, {}, 2, 24, "Tree", Protocol::ll, 1},
                {8 << 20, 200, 180, 0.1, 150, 220, {}, {}, {}, 3, 280, "Ring", Protocol::simple, 12}}},
              {"peers",
               "puhti",
               "alltoall",
               4,
               1,
               0.02,
               0.02,
               0.02,
               0.02,
               0,
               {{1024, 50, 51, 0.02, 40, 65, {}, {}, {}, 4, 0, "Peers", Protocol::simple, 4}}}};
  return v;
}

std::vector<CollectiveMeasurement> example_rows() {
  CollectiveMeasurement m;
  m.series = "a published run", m.cluster = "puhti", m.op = "all_reduce", m.gpus = 4, m.nodes = 2,
  m.bytes = 1 << 20, m.time_us = 40;
  return {m};
}

}  // namespace

TEST_CASE("the table of nccl-tests is as approved") {
  CHECK(write_nccl_tests(test::example_curve(), {.explain = true}) == approved("collective.txt"));
}
TEST_CASE("the CSV of a collective is as approved") {
  CHECK(write_collective_csv(test::example_curve(), {}) == approved("collective.csv"));
}
TEST_CASE("the JSON of a collective is as approved") {
  CHECK(write_collective_json(test::example_curve(), {.explain = true}) == approved("collective.json"));
}
TEST_CASE("the drawing of bus bandwidth is as approved") {
  CHECK(draw_busbw(busbw_chart(test::example_curve(), example_rows())) == approved("collective.svg"));
}
TEST_CASE("the validation table of collectives is as approved") {
  CHECK(write_validation_table(example_validation()) == approved("collective_validation.txt"));
}
TEST_CASE("the validation JSON of collectives is as approved") {
  CHECK(write_validation_json(example_validation()) == approved("collective_validation.json"));
}

}  // namespace collective_reports

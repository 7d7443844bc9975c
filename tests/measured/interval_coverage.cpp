// The 90 % intervals hold about nine of ten of what the repository itself ships as measured.
#include <map>

#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/analysis/validation/large_model_validation.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "tests/measured/measured_rows.hpp"
#include "tests/support/catch.hpp"

namespace interval_coverage {

using namespace foretrain;

namespace {

struct Held {
  int rows = 0, inside = 0;
  void add(bool is_inside) { ++rows, inside += is_inside ? 1 : 0; }
  double share() const { return rows > 0 ? inside / static_cast<double>(rows) : 0; }
};

/// Every fifth series: all of them take minutes with assertions.
MeasurementFile some_trainings() {
  MeasurementFile all = test::measured_rows("scaling.csv"), some;
  std::map<std::string, std::size_t> places;
  for (const Measurement& m : all.scaling) {
    const std::size_t place = places.try_emplace(m.series, places.size()).first->second;
    if (place % 5 == 0) some.scaling.push_back(m);
  }
  return some;
}

}  // namespace

TEST_CASE("intervals of collectives hold nine of ten of the measured ones, small and large") {
  test::measured_provenance();  // opens the catalogs of the source
  Held all, small, large;
  for (const char* file : {"nccl.csv", "nccl_2.csv"}) {
    for (const ValidatedCollectiveSeries& series :
         validate_collectives(test::measured_rows(file).collective, {}).series) {
      for (const ValidatedCollective& p : series.points) {
        const bool is_inside = p.low <= p.measured && p.measured <= p.high;
        all.add(is_inside);
        (p.bytes < kLargeMessage ? small : large).add(is_inside);
      }
    }
  }
  REQUIRE(all.rows > 2500);
  INFO(all.share() << " of " << all.rows << ", small " << small.share() << ", large " << large.share());
  CHECK(all.share() >= 0.86);
  CHECK(all.share() <= 0.96);
  for (const Held& held : {small, large}) {
    CHECK(held.share() >= 0.8);
    CHECK(held.share() <= 0.97);
  }
}

TEST_CASE("intervals of speedups hold nine of ten of the measured ones") {
  const Validation v =
      validate(some_trainings(), {.settings = {}, .provenance = test::measured_provenance()});
  REQUIRE(v.scored > 200);
  INFO(v.coverage << " of " << v.scored);
  CHECK(v.coverage >= 0.86);
  CHECK(v.coverage <= 0.97);
}

TEST_CASE("intervals of steps on one GPU hold nine of ten of the measured ones") {
  const Validation v =
      validate(some_trainings(),
               {.anchor = false, .settings = {}, .gpus = {1}, .provenance = test::measured_provenance()});
  REQUIRE(v.scored > 60);
  INFO(v.coverage << " of " << v.scored);
  CHECK(v.coverage >= 0.84);
  CHECK(v.coverage <= 0.98);
}

}  // namespace interval_coverage

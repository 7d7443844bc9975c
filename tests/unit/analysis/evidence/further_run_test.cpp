// The interval of the next run beside its closed form.
#include "sim/analysis/evidence/further_run.hpp"

#include <cmath>

#include "sim/analysis/uncertainty/uncertain_inputs.hpp"
#include "tests/support/catch.hpp"

namespace further_run_test {

using namespace foretrain;

TEST_CASE("quantiles of Student's t are those of tables") {
  CHECK(student_95(1) == Approx(6.313752).epsilon(1e-6));
  CHECK(student_95(2) == Approx(2.919986).epsilon(1e-6));
  CHECK(student_95(3) == Approx(2.353363).epsilon(2e-3));
  CHECK(student_95(4) == Approx(2.131847).epsilon(1e-3));
  CHECK(student_95(15) == Approx(1.753050).epsilon(1e-4));
  CHECK(student_95(15.9) == student_95(15));
  CHECK(student_95(1e6) == Approx(1.644854).epsilon(1e-5));
}

TEST_CASE("one run is known to what two runs of a job differ by, with one degree of freedom") {
  const FurtherRun next = further_run({{std::log(0.1)}});
  CHECK(next.middle == Approx(std::log(0.1)));
  CHECK(next.reach == Approx(student_95(1) * kRunToRun * std::sqrt(2.0)));
}

TEST_CASE("repeats of one source give their median and the classical prediction interval") {
  // Standard deviation 0.1 around 2.
  const FurtherRun next = further_run({{1.9, 2.0, 2.1}});
  CHECK(next.middle == Approx(2));
  CHECK(next.reach == Approx(student_95(2) * 0.1 * std::sqrt(1 + 1 / 3.0)));
}

TEST_CASE("repeats that agree too well are known to what two runs of a job differ by") {
  const FurtherRun next = further_run({{1, 1, 1, 1, 1}});
  CHECK(next.reach == Approx(student_95(4) * kRunToRun * std::sqrt(1.2)));
}

TEST_CASE("more runs with the same scatter narrow the interval") {
  double before = 1e9;
  for (const int runs : {1, 2, 3, 6, 20}) {
    const double reach = further_run({std::vector<double>(static_cast<std::size_t>(runs), 1.0)}).reach;
    CHECK(reach < before);
    before = reach;
  }
}

TEST_CASE("two sources that agree count like one, two that differ make the interval wide") {
  const FurtherRun alike = further_run({{1, 1}, {1, 1}});
  CHECK(alike.reach == Approx(student_95(2) * kRunToRun * std::sqrt(1.25)));
  const FurtherRun apart = further_run({{1, 1}, {2, 2}});
  CHECK(apart.middle == Approx(1.5));
  // Medians 1 and 2 have a variance of 1/2; repeats are next to nothing beside it.
  CHECK(apart.reach == Approx(student_95(1) * std::sqrt(0.5 * 1.5 + kRunToRun * kRunToRun * 1.25)));
}

TEST_CASE("a source with many runs does not outvote one with few") {
  CHECK(further_run({{1, 1, 1, 1, 1, 1, 1}, {2}}).middle == Approx(1.5));
}

}  // namespace further_run_test

// Kriging with closed forms.
#include <cmath>

#include "calibrate/fit/gaussian_field.hpp"
#include "tests/support/catch.hpp"

namespace fit_gaussian_field_test {

using namespace foretrain::fit;

TEST_CASE("without values the prior stays") {
  FieldProblem p;
  p.own = 0.04, p.noise.assign(p.values.size(), 0.01);
  const FieldAnswer answer = krige(p);
  CHECK(answer.mean == 0);
  CHECK(answer.variance == 0.04);
}

TEST_CASE("one small value counts by the field's share of its variance") {
  FieldProblem p;
  p.values = {1e-4}, p.covariance = {0.04}, p.across = {0.04}, p.groups = {0};
  p.own = 0.04, p.noise.assign(p.values.size(), 0.01);
  const FieldAnswer answer = krige(p);
  // A value within its noise is believed by (4 + 1) / 4 at most, which is cut to 1: 0.04 / (0.04 + 0.01).
  CHECK(answer.trust[0] == 1);
  CHECK(answer.mean == Approx(0.8e-4));
  CHECK(answer.variance == Approx(0.04 - 0.04 * 0.8));
}

TEST_CASE("a group's bias is carried to its own place and kept from others'") {
  FieldProblem p;
  p.values = {1e-3, 1e-3}, p.covariance = {0.01, 0.01, 0.01, 0.01}, p.across = {0.01, 0.01};
  p.groups = {0, 0}, p.own = 0.01, p.noise.assign(2, 0.01), p.bias = 0.03;
  const double others = krige(p).mean;
  p.own_group = 0;
  // Mean of both: 0.01 / (0.01 + 0.03 + 0.01 / 2), with the bias 0.04 over the same.
  CHECK(others == Approx(1e-3 * 0.01 / 0.045));
  CHECK(krige(p).mean == Approx(1e-3 * 0.04 / 0.045));
}

TEST_CASE("one value that is far off beside four that agree is hardly believed") {
  FieldProblem p;
  p.values = {0.1, 0.1, 0.1, 0.1, 2}, p.covariance.assign(25, 0.04), p.across.assign(5, 0.04);
  p.groups = {0, 1, 2, 3, 4}, p.own = 0.04, p.noise.assign(5, 0.001);
  const FieldAnswer answer = krige(p);
  CHECK(answer.trust[4] < 0.05);
  CHECK(std::abs(answer.mean - 0.1) < 0.01);
}

}  // namespace fit_gaussian_field_test

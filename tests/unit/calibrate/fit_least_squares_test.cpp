// Properties of the least squares: known constants come back, their spreads are true, outliers and limits do
// what they should.
#include <array>
#include <cmath>

#include "calibrate/fit/least_squares.hpp"
#include "sim/base/random.hpp"
#include "tests/support/catch.hpp"

namespace fit_least_squares_test {

using namespace foretrain;
using foretrain::fit::Fit;
using foretrain::fit::FittedParameter;
using foretrain::fit::Problem;

namespace {

/// Time of a collective of `calls` launches in `steps` steps among `peers`: five constants, not one of them
/// linear in all the others.
struct Condition {
  double calls, steps, peers, bytes;
};

constexpr std::array<double, 5> kTruth{5e-6, 2e-6, 25e9, 0.3, 4e5};

double collective_time(const Condition& c, const std::vector<double>& v) {
  return c.calls * v[0] + c.steps * v[1] + (c.bytes + v[4]) * std::pow(c.peers, v[3]) / v[2];
}

std::vector<Condition> conditions(int n) {
  std::vector<Condition> out;
  for (int i = 0; i < n; ++i) {
    out.push_back({std::pow(2.0, i % 4), 1.0 + i % 15, std::pow(2.0, (i / 3) % 5),
                   std::pow(2.0, 6 + 24.0 * ((i * 7) % n) / n)});
  }
  return out;
}

/// `noise`: standard deviation of the logarithms; every tenth measurement times `outlier`.
Problem collective_problem(int n, double noise, double outlier, std::uint64_t seed) {
  Problem problem;
  problem.parameters = {{"launch", 1e-6, 0, 0, 0},
                        {"hop", 1e-6, 0, 0, 0},
                        {"rate", 60e9, 0, 0, 0},
                        {"share", 0.5, 0, 0, 0},
                        {"half", 1e5, 0, 0, 0}};
  const std::vector<Condition> all = conditions(n);
  problem.predict = [all](const std::vector<double>& values) {
    std::vector<double> out;
    for (const Condition& c : all) out.push_back(collective_time(c, values));
    return out;
  };
  problem.measured = problem.predict({kTruth.begin(), kTruth.end()});
  const CounterRandom random(seed);
  for (std::size_t i = 0; i < problem.measured.size(); ++i) {
    problem.measured[i] *= std::exp(noise * random.normal(1, i)) * (i % 10 == 3 ? outlier : 1);
  }
  return problem;
}

double error_of(const Fit& fit, std::size_t j) { return std::log(fit.parameters[j].value / kTruth[j]); }

/// y = factor for every measurement.
Problem factor_problem(std::vector<double> measured, fit::Parameter parameter) {
  const std::size_t n = measured.size();
  return {{std::move(parameter)}, std::move(measured), {}, [n](const std::vector<double>& v) {
            return std::vector<double>(n, v[0]);
          }};
}

bool is_sane(const FittedParameter& p) {
  return std::isfinite(p.value) && p.value > 0 && std::isfinite(p.spread) && p.spread >= 0;
}

bool is_sane(const Fit& fit) {
  for (const FittedParameter& p : fit.parameters) {
    if (!is_sane(p)) return false;
  }
  for (const double r : fit.residuals) {
    if (!std::isfinite(r)) return false;
  }
  for (const double w : fit.weights) {
    if (!(w >= 0 && w <= 1)) return false;
  }
  return std::isfinite(fit.scale);
}

}  // namespace

TEST_CASE("five constants come back exactly from measurements without noise") {
  const Fit fit = fit::fit(collective_problem(60, 0, 1, 1));
  CHECK(fit.converged);
  for (std::size_t j = 0; j < kTruth.size(); ++j) CHECK(std::abs(error_of(fit, j)) < 1e-4);
}

TEST_CASE("five constants come back within 3 % from 2000 measurements with 5 % noise") {
  const Fit fit = fit::fit(collective_problem(2000, 0.05, 1, 2));
  CHECK(fit.converged);
  CHECK(fit.iterations <= 30);
  CHECK(fit.scale == Approx(0.05).epsilon(0.1));
  for (std::size_t j = 0; j < kTruth.size(); ++j) {
    INFO(j);
    CHECK(std::abs(error_of(fit, j)) < 0.03);
    CHECK(fit.parameters[j].samples > 0);
    CHECK_FALSE(fit.parameters[j].at_limit);
    CHECK_FALSE(fit.parameters[j].by_prior);
  }
}

TEST_CASE("the stated spread covers the truth in 85 to 95 % of 500 seeded draws") {
  for (const int n : {25, 100}) {
    std::array<int, 5> covered{};
    for (std::uint64_t draw = 0; draw < 500; ++draw) {
      const Fit fit = fit::fit(collective_problem(n, 0.05, 1, 100 + draw));
      for (std::size_t j = 0; j < kTruth.size(); ++j)
        covered[j] += std::abs(error_of(fit, j)) < 1.645 * fit.parameters[j].spread ? 1 : 0;
    }
    for (const int count : covered) {
      INFO(n << " measurements, " << count << " of 500");
      CHECK(count >= 425);
      CHECK(count <= 475);
    }
  }
}

TEST_CASE("a tenth of the points three times too large move no constant by 3 %") {
  const Fit clean = fit::fit(collective_problem(500, 0.02, 1, 5)),
            hit = fit::fit(collective_problem(500, 0.02, 3, 5));
  for (std::size_t j = 0; j < kTruth.size(); ++j) {
    INFO(j);
    CHECK(std::abs(std::log(hit.parameters[j].value / clean.parameters[j].value)) < 0.03);
  }
  CHECK(hit.weights[3] < 0.1);
  CHECK(hit.weights[4] > 0.3);
}

TEST_CASE("a limit holds and is told of") {
  const Fit fit = fit::fit(factor_problem({10, 11, 9, 10.5, 9.5}, {"factor", 2, 1, 5, 0}));
  CHECK(fit.parameters[0].value == 5);
  CHECK(fit.parameters[0].at_limit);
  CHECK(is_sane(fit));
  const Fit free = fit::fit(factor_problem({10, 11, 9, 10.5, 9.5}, {"factor", 2, 1, 50, 0}));
  CHECK(free.parameters[0].value == Approx(10).epsilon(0.03));
  CHECK_FALSE(free.parameters[0].at_limit);
}

TEST_CASE("a start outside its limits is put on the nearer one first") {
  CHECK(fit::fit(factor_problem({3, 3.1, 2.9}, {"factor", 100, 1, 5, 0})).parameters[0].value ==
        Approx(3).epsilon(0.02));
}

TEST_CASE("a constant that no measurement depends on keeps its default and the spread it had") {
  Problem problem = factor_problem({10, 11, 9, 10.5, 9.5}, {"factor", 2, 0, 0, 0});
  problem.parameters.push_back({"unused", 7, 0, 0, 0.3});
  problem.parameters.push_back({"unknown", 8, 0, 0, 0});
  const Fit fit = fit::fit(problem);
  CHECK(fit.parameters[1].value == 7);
  CHECK(fit.parameters[1].spread == Approx(0.3));
  CHECK(fit.parameters[1].samples == 0);
  CHECK(fit.parameters[1].by_prior);
  CHECK(fit.parameters[2].value == 8);
  CHECK(fit.parameters[2].spread == 10);
  CHECK(fit.parameters[0].samples == 5);
  CHECK_FALSE(fit.parameters[0].by_prior);
}

TEST_CASE("what was known before holds two constants apart that one measurement cannot") {
  Problem problem;  // only the product is seen: 12 where 2 x 3 was expected, and the second may move four
                    // times as far
  problem.parameters = {{"a", 2, 0, 0, 0.1}, {"b", 3, 0, 0, 0.2}};
  problem.measured = {12};
  problem.predict = [](const std::vector<double>& v) { return std::vector<double>{v[0] * v[1]}; };
  const Fit fit = fit::fit(problem);
  const double a = std::log(fit.parameters[0].value / 2), b = std::log(fit.parameters[1].value / 3);
  CHECK(b / a == Approx(4).epsilon(0.01));  // shares of log 2 as the variances 0.01 and 0.04
  CHECK(a + b == Approx(std::log(2)).epsilon(0.1));
  CHECK(fit.parameters[0].by_prior);
  CHECK(is_sane(fit));
}

TEST_CASE("one measurement with a weak prior is taken as measured to 5 %") {
  const Fit fit = fit::fit(factor_problem({20}, {"factor", 10, 0, 0, 1}));
  CHECK(fit.parameters[0].value == Approx(20).epsilon(0.01));
  CHECK(fit.parameters[0].spread > 0.05);
  CHECK(fit.parameters[0].spread < 0.2);
}

TEST_CASE("measurements with a large spread of their own count little") {
  Problem problem = factor_problem({10, 10.1, 9.9, 10, 30, 31}, {"factor", 5, 0, 0, 0});
  problem.spread = {0.01, 0.01, 0.01, 0.01, 1, 1};
  CHECK(fit::fit(problem).parameters[0].value == Approx(10).epsilon(0.02));
}

TEST_CASE("nothing to fit, or nothing to fit to, gives back what was known") {
  const Fit none = fit::fit(factor_problem({}, {"factor", 10, 0, 0, 0.4}));
  CHECK(none.parameters[0].value == 10);
  CHECK(none.parameters[0].spread == Approx(0.4));
  CHECK(none.converged);
  const Fit fixed = fit::fit({{}, {2, 2.2}, {}, [](const std::vector<double>&) {
                                return std::vector<double>{2, 2};
                              }});
  CHECK(fixed.parameters.empty());
  CHECK(fixed.residuals.size() == 2);
  CHECK(is_sane(fixed));
}

TEST_CASE("steps to where the model gives no number are not taken") {
  Problem problem = factor_problem({3, 3.1, 2.9}, {"factor", 1, 0, 0, 0});
  problem.predict = [](const std::vector<double>& v) {
    const double value = v[0] > 3.5 ? 0 : v[0] * v[0] / 3;
    return std::vector<double>{value, value, value};
  };
  CHECK(fit::fit(problem).parameters[0].value == Approx(3).epsilon(0.02));
}

TEST_CASE("forty constants are found from 2000 measurements in at most thirty steps") {
  Problem problem;
  const CounterRandom random(11);
  std::vector<double> truth;
  for (std::uint64_t j = 0; j < 40; ++j) {
    problem.parameters.push_back({"c", 1, 0, 0, 1});
    truth.push_back(std::exp(0.7 * random.normal(1, j)));
  }
  problem.predict = [](const std::vector<double>& v) {
    std::vector<double> out;
    for (std::size_t i = 0; i < 2000; ++i)
      out.push_back(v[i % 40] + 0.5 * v[(i * 7 + i / 40) % 40] + 0.1 * v[(i / 3) % 40]);
    return out;
  };
  problem.measured = problem.predict(truth);
  for (std::size_t i = 0; i < 2000; ++i) problem.measured[i] *= std::exp(0.05 * random.normal(2, i));
  const Fit fit = fit::fit(problem);
  CHECK(fit.converged);
  for (std::size_t j = 0; j < 40; ++j)
    CHECK(std::abs(std::log(fit.parameters[j].value / truth[j])) < 4 * fit.parameters[j].spread);
}

TEST_CASE("no number is lost on hostile inputs") {
  const CounterRandom random(13);
  for (std::uint64_t draw = 0; draw < 200; ++draw) {
    Problem problem;
    const auto n = static_cast<std::size_t>(1 + 10 * random.uniform(draw, 0));
    const auto p = static_cast<std::size_t>(1 + 6 * random.uniform(draw, 1));
    for (std::size_t j = 0; j < p; ++j) {
      const double start = std::exp(100 * random.normal(draw, 10 + j));
      problem.parameters.push_back({"c", start, 0, j % 3 == 0 ? start * 2 : 0, j % 2 == 0 ? 0 : 0.3});
    }
    for (std::size_t i = 0; i < n; ++i)
      problem.measured.push_back(std::exp(100 * random.normal(draw, 100 + i)));
    problem.predict = [n](const std::vector<double>& v) {
      std::vector<double> out;
      for (std::size_t i = 0; i < n; ++i) out.push_back(v[i % v.size()] + 1e-3 * v.front());
      return out;
    };
    INFO(draw);
    CHECK(is_sane(fit::fit(problem)));
  }
}

}  // namespace fit_least_squares_test

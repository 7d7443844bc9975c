// Tests of max-min rates on systems small enough to solve on paper.
#include "sim/engine/max_min.hpp"

#include <cmath>
#include <limits>

#include "tests/support/catch.hpp"

namespace max_min_test {

using namespace foretrain;

namespace {

using Routes = std::vector<std::vector<std::uint32_t>>;

std::vector<double> rates_of(const std::vector<double>& capacities, const Routes& routes) {
  MaxMinProblem problem;
  for (const double capacity : capacities) problem.capacities.push_back({capacity});
  for (const auto& route : routes) problem.add_flow(route);
  std::vector<double> out;
  for (const ByteRate rate : max_min_rates(problem)) out.push_back(rate.per_second);
  return out;
}

}  // namespace

TEST_CASE("a flow alone gets the whole link") { CHECK(rates_of({100}, {{0}}) == std::vector<double>{100}); }

TEST_CASE("two flows on one link each get half of it") {
  CHECK(rates_of({100}, {{0}, {0}}) == std::vector<double>{50, 50});
}

TEST_CASE("a flow over two links runs at the narrower") {
  CHECK(rates_of({100, 30}, {{0, 1}}) == std::vector<double>{30});
}

TEST_CASE("what a flow cannot use because of another link goes to its neighbours") {
  // Link 1 (30) holds flow 0 at 30; flow 1 has the rest of link 0: 100 - 30 = 70.
  CHECK(rates_of({100, 30}, {{0, 1}, {0}}) == std::vector<double>{30, 70});
}

TEST_CASE("the textbook line of links: one long flow, one short flow on each") {
  // Link 1 is fullest: 60 / 3 = 20 for flow 0 and its two short flows; link 0 leaves 100 - 20 = 80, link 2
  // leaves 50 - 20 = 30.
  const std::vector<double> rates = rates_of({100, 60, 50}, {{0, 1, 2}, {0}, {1}, {1}, {2}});
  CHECK(rates == std::vector<double>{20, 80, 20, 20, 30});
}

TEST_CASE("a flow that names a link twice takes two shares of it") {
  // 90 = 2 x + x, so x = 30 for both: each has the same rate, the first one uses 60 of the link.
  CHECK(rates_of({90}, {{0, 0}, {0}}) == std::vector<double>{30, 30});
  CHECK(rates_of({90}, {{0, 0}}) == std::vector<double>{45});
}

TEST_CASE("a link without capacity stops its flows and nobody else's") {
  CHECK(rates_of({0, 100}, {{0, 1}, {1}}) == std::vector<double>{0, 100});
}

TEST_CASE("a flow with an empty route has no limit") {
  const std::vector<double> rates = rates_of({100}, {{}, {0}});
  CHECK(std::isinf(rates[0]));
  CHECK(rates[1] == 100);
}

TEST_CASE("a link without limit only passes on what other links allow") {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<double> rates = rates_of({kInfinity, 40}, {{0}, {0, 1}});
  CHECK(std::isinf(rates[0]));
  CHECK(rates[1] == 40);
}

TEST_CASE("a capacity that makes no sense counts as none") {
  CHECK(rates_of({-5, std::numeric_limits<double>::quiet_NaN()}, {{0}, {1}}) == std::vector<double>{0, 0});
}

TEST_CASE("no flows have no rates") { CHECK(rates_of({100}, {}).empty()); }

TEST_CASE("equal shares on many links are filled in one round") {
  Routes routes;
  for (std::uint32_t i = 0; i < 50; ++i) routes.push_back({i, (i + 1) % 50});
  CHECK(rates_of(std::vector<double>(50, 12e9), routes) == std::vector<double>(50, 6e9));
}

TEST_CASE("a solver used again forgets the flows of before") {
  MaxMinSolver solver({{100}, {40}});
  const std::vector<std::uint32_t> both{0, 1}, wide{0};
  solver.clear();
  solver.add_flow(both);
  solver.add_flow(both);
  CHECK(solver.solve() == std::vector<double>{20, 20});
  solver.clear();
  solver.add_flow(wide);
  CHECK(solver.solve() == std::vector<double>{100});
  solver.clear();
  CHECK(solver.solve().empty());
}

}  // namespace max_min_test

// Sample points: random, Latin hypercube, Sobol. Each method is a function of seed, count and dimensions
// alone.
#include <cmath>
#include <numeric>

#include <boost/random/sobol.hpp>

#include "sim/base/random.hpp"
#include "sim/scenario/sweep/axis_values.hpp"

namespace foretrain {

namespace {

/// Streams of random numbers, above those of the axes.
constexpr std::uint64_t kDraws = 1'000, kOrders = 2'000, kShifts = 3'000;

/// Independent uniform points.
UnitPoints independent(const CounterRandom& draws, std::size_t count, std::size_t dimensions) {
  UnitPoints points(count, std::vector<double>(dimensions));
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t d = 0; d < dimensions; ++d) points[i][d] = draws.uniform(kDraws + d, i);
  return points;
}

/// Latin hypercube: in each dimension every n-th part has one point (McKay, Beckman, Conover 1979).
UnitPoints latin_hypercube(const CounterRandom& draws, std::size_t count, std::size_t dimensions) {
  UnitPoints points = independent(draws, count, dimensions);
  std::vector<std::size_t> order(count);
  for (std::size_t d = 0; d < dimensions; ++d) {
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Fisher-Yates shuffle with a counter-based generator.
    for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[draws.bits(kOrders + d, i) % i]);
    for (std::size_t i = 0; i < count; ++i)
      points[i][d] = (static_cast<double>(order[i]) + points[i][d]) / static_cast<double>(count);
  }
  return points;
}

/// Sobol points with Joe and Kuo's direction numbers, as Boost has them, rotated by one draw per dimension
/// (Cranley, Patterson 1976).
UnitPoints sobol(const CounterRandom& draws, std::size_t count, std::size_t dimensions) {
  boost::random::sobol engine(dimensions);
  const double whole = std::ldexp(1.0, 64);
  UnitPoints points(count, std::vector<double>(dimensions));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t d = 0; d < dimensions; ++d) {
      const double moved = static_cast<double>(engine()) / whole + draws.uniform(kShifts + d, 0);
      // The result must stay below 1 in spite of rounding.
      points[i][d] = std::min(moved - std::floor(moved), std::nextafter(1.0, 0.0));
    }
  }
  return points;
}

}  // namespace

const std::vector<std::string>& sampling_methods() {
  static const std::vector<std::string> names{"random", "latin_hypercube", "sobol"};
  return names;
}

UnitPoints unit_points(const std::string& method, std::int64_t seed, std::size_t count,
                       std::size_t dimensions) {
  const CounterRandom draws(static_cast<std::uint64_t>(seed));
  if (dimensions == 0) return {};
  if (method == "sobol") return sobol(draws, count, dimensions);
  return method == "random" ? independent(draws, count, dimensions)
                            : latin_hypercube(draws, count, dimensions);
}

}  // namespace foretrain

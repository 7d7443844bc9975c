// The plain twin of max_min_rates: progressive filling with every sum taken anew, one link a round.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "sim/engine/max_min.hpp"

namespace foretrain::test {

/// How many times flow `f` names `link`.
inline double mentions(const MaxMinProblem& problem, std::size_t f, std::uint32_t link) {
  const auto begin = problem.links.begin();
  return static_cast<double>(
      std::count(begin + problem.first_link[f], begin + problem.first_link[f + 1], link));
}

/// Bytes per second of each flow; infinity for an empty route.
inline std::vector<double> naive_max_min(const MaxMinProblem& problem) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  std::vector<double> rates(problem.flow_count(), kInfinity);
  while (true) {
    double least = kInfinity;
    std::uint32_t narrowest = 0;
    for (std::uint32_t link = 0; link < problem.capacities.size(); ++link) {
      double left = problem.capacities[link].per_second, waiting = 0;
      for (std::size_t f = 0; f < rates.size(); ++f) {
        if (rates[f] < kInfinity) left -= rates[f] * mentions(problem, f, link);
        if (rates[f] == kInfinity) waiting += mentions(problem, f, link);
      }
      const double share = std::max(0.0, left) / waiting;
      if (waiting > 0 && share < least) least = share, narrowest = link;
    }
    if (least == kInfinity) return rates;
    for (std::size_t f = 0; f < rates.size(); ++f) {
      if (rates[f] == kInfinity && mentions(problem, f, narrowest) > 0) rates[f] = least;
    }
  }
}

}  // namespace foretrain::test

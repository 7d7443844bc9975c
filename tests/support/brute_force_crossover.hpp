// The simple twin of the search for the crossover: looks at every number of GPUs that counts.
#pragma once

#include <algorithm>
#include <functional>
#include <vector>

#include "sim/analysis/search/crossover.hpp"

namespace foretrain::test {

/// `rates[n - 1]`: samples per second on n GPUs. `counts`: whether a person would request so many.
inline Crossover brute_force_crossover(const std::vector<double>& rates,
                                       const std::function<bool(int)>& counts) {
  const int all = static_cast<int>(rates.size());
  const auto rate = [&](int n) { return rates[static_cast<std::size_t>(n - 1)]; };
  std::vector<int> numbers;
  for (int n = 1; n <= all; ++n)
    if (counts(n)) numbers.push_back(n);
  const auto first = [&](auto holds) {
    for (const int n : numbers)
      if (holds(n)) return std::optional<int>(n);
    return std::optional<int>();
  };
  const auto neighbour = [&](int n, int by) { return *(std::find(numbers.begin(), numbers.end(), n) + by); };
  const auto ranges = [&](auto holds) {
    std::vector<GpuRange> out;
    for (const int n : numbers) {
      if (!holds(n)) continue;
      if (!out.empty() && neighbour(n, -1) == out.back().last)
        out.back().last = n;
      else
        out.push_back({n, n});
    }
    return out;
  };
  double largest = 0;
  for (const int n : numbers) largest = std::max(largest, rate(n));
  Crossover c;
  c.fastest_gpus = *first([&](int n) { return rate(n) * 1.001 >= largest; });
  if (c.fastest_gpus < numbers.back()) c.no_gain_from = neighbour(c.fastest_gpus, 1);
  c.slower_than_one_gpu = ranges([&](int n) { return rate(n) < kSlower * rate(1); });
  c.slower_than_fewer = ranges([&](int n) {
    return std::any_of(numbers.begin(), numbers.end(),
                       [&](int fewer) { return fewer < n && rate(n) < kSlower * rate(fewer); });
  });
  for (const auto& [bound, answer] :
       {std::pair(0.9, &c.efficiency_below_90), std::pair(0.8, &c.efficiency_below_80),
        std::pair(0.7, &c.efficiency_below_70), std::pair(0.5, &c.efficiency_below_50)}) {
    const double efficiency = bound;
    *answer = first([&](int n) { return rate(n) < efficiency * n * rate(1); });
    int reaches = 1;
    for (const int n : numbers)
      if (rate(n) >= efficiency * n * rate(1)) reaches = n;
    c.worth_requesting.push_back({efficiency, *answer ? neighbour(**answer, -1) : numbers.back(), reaches});
  }
  return c;
}

/// Within a node all, beyond it whole nodes, or all.
inline std::function<bool(int)> requested(int per_node, bool every_gpu) {
  return [=](int n) { return every_gpu || n <= per_node || n % per_node == 0; };
}

/// Every answer of both in one line, for comparing and for reading.
inline std::string answers_text(const Crossover& c) {
  const auto text = [](const std::optional<int>& n) { return n ? std::to_string(*n) : std::string("never"); };
  const auto ranges = [](const std::vector<GpuRange>& list) {
    std::string all = list.empty() ? "never" : "";
    for (const GpuRange& r : list) all += " " + std::to_string(r.first) + "-" + std::to_string(r.last);
    return all;
  };
  std::string out = "fastest " + std::to_string(c.fastest_gpus) + ", no gain " + text(c.no_gain_from) +
                    ", slower than one " + ranges(c.slower_than_one_gpu) + ", than fewer " +
                    ranges(c.slower_than_fewer) + ", below " + text(c.efficiency_below_90) + " " +
                    text(c.efficiency_below_80) + " " + text(c.efficiency_below_70) + " " +
                    text(c.efficiency_below_50) + ", worth";
  for (const WorthRequesting& w : c.worth_requesting)
    out += " " + std::to_string(w.every_up_to) + "-" + std::to_string(w.most);
  return out;
}

}  // namespace foretrain::test

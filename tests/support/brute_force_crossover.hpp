// The simple twin of the search for the crossover: looks at every number of GPUs.
#pragma once

#include <algorithm>
#include <vector>

#include "sim/analysis/crossover.hpp"

namespace foretrain::test {

/// `rates[n - 1]`: samples per second on n GPUs.
inline Crossover brute_force_crossover(const std::vector<double>& rates) {
  const int most = static_cast<int>(rates.size());
  const auto rate = [&](int n) { return rates[static_cast<std::size_t>(n - 1)]; };
  const auto first = [most](auto holds) {
    for (int n = 1; n <= most; ++n)
      if (holds(n)) return std::optional<int>(n);
    return std::optional<int>();
  };
  const double largest = *std::max_element(rates.begin(), rates.end());
  Crossover c;
  c.fastest_gpus = *first([&](int n) { return rate(n) * 1.001 >= largest; });
  if (c.fastest_gpus < most) c.no_gain_from = c.fastest_gpus + 1;
  c.slower_than_one_gpu_from = first([&](int n) { return rate(n) < rate(1); });
  c.slower_than_previous_from = first([&](int n) { return n > 1 && rate(n) * 1.001 < rate(n - 1); });
  for (const auto& [efficiency, answer] : {std::pair(0.9, &c.efficiency_below_90), std::pair(0.8, &c.efficiency_below_80),
                                           std::pair(0.7, &c.efficiency_below_70), std::pair(0.5, &c.efficiency_below_50)}) {
    *answer = first([&](int n) { return rate(n) < efficiency * n * rate(1); });
    int reaches = 1;
    for (int n = 1; n <= most; ++n)
      if (rate(n) >= efficiency * n * rate(1)) reaches = n;
    c.worth_requesting.push_back({efficiency, answer->value_or(most + 1) - 1, reaches});
  }
  return c;
}

/// Every answer of both in one line, for comparing and for reading.
inline std::string answers_text(const Crossover& c) {
  const auto text = [](const std::optional<int>& n) { return n ? std::to_string(*n) : std::string("never"); };
  std::string out = "fastest " + std::to_string(c.fastest_gpus) + ", no gain " + text(c.no_gain_from) + ", slower than one " +
                    text(c.slower_than_one_gpu_from) + ", than previous " + text(c.slower_than_previous_from) + ", below " +
                    text(c.efficiency_below_90) + " " + text(c.efficiency_below_80) + " " + text(c.efficiency_below_70) + " " +
                    text(c.efficiency_below_50) + ", worth";
  for (const WorthRequesting& w : c.worth_requesting) out += " " + std::to_string(w.every_up_to) + "-" + std::to_string(w.most);
  return out;
}

}  // namespace foretrain::test

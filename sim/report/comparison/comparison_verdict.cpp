// One sentence for each standing that the scenario's own strategy can have.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/analysis/search/strategy_order.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"

namespace foretrain {

namespace {

/// "4 % faster": the fastest against a row.
std::string faster_by(const ComparedStrategy& row) {
  return fmt::format("{} % faster", percent(1 / row.ratio - 1, 0));
}

std::string likely(const ComparedStrategy& row) {
  return fmt::format("90 %: {} to {} %", signed_percent(1 / row.ratio_range.high - 1, 0),
                     signed_percent(1 / row.ratio_range.low - 1, 0));
}

/// So many names, further ones are counted.
constexpr std::size_t kMostTied = 3;

/// ", zero1 and zero2 within 2 % of it": what shares the first place, or nothing.
std::string beside(const ComparedGpus& numbers, const ComparedStrategy& fastest) {
  std::vector<std::string> names;
  for (const ComparedStrategy& row : numbers.strategies)
    if (row.standing == Standing::as_fast && row.strategy != fastest.strategy) names.push_back(row.strategy);
  if (names.empty() || !fastest.point.fits()) return "";
  std::string text = names.front();
  if (names.size() > kMostTied) text = fmt::format("{} others", names.size());
  for (std::size_t i = 1; i < names.size() && names.size() <= kMostTied; ++i)
    text += (i + 1 < names.size() ? ", " : " and ") + names[i];
  return fmt::format(", {} within {} % of it", text, percent(kWorthSwitching, 0));
}

/// "of those that need nothing but a change of the strategy, zero1 within 2 % of it."
std::string limited(const ComparedGpus& numbers, const ComparedStrategy& fastest) {
  return fmt::format("{} is the fastest of those that need nothing but a change of the strategy{}.",
                     fastest.strategy, beside(numbers, fastest));
}

/// The scenario's own strategy is there, runs, and stands where `row` does.
std::string about_own(const ComparedGpus& numbers, const ComparedStrategy& own,
                      const ComparedStrategy& fastest) {
  switch (own.standing) {
    case Standing::as_fast:
      if (own.strategy == fastest.strategy)
        return fmt::format("{} is the fastest{}.", own.strategy, beside(numbers, fastest));
      return fmt::format("{} is within 2 % of the fastest, {}: no reason to switch.", own.strategy,
                         fastest.strategy);
    case Standing::not_told_apart:
      return fmt::format("{} is {} than {}, less than the predictions can tell ({}).", fastest.strategy,
                         faster_by(own), own.strategy, likely(own));
    case Standing::slower:
      return fmt::format("{} is {} than {} ({}).", fastest.strategy, faster_by(own), own.strategy,
                         likely(own));
    case Standing::needs_more:
      return limited(numbers, fastest);
    case Standing::does_not_fit:
      return fastest.point.fits()
                 ? fmt::format("{} does not fit into the GPU's memory; {} is the fastest that does{}.",
                               own.strategy, fastest.strategy, beside(numbers, fastest))
                 : "none fits into the GPU's memory.";
    case Standing::cannot_run:
      break;
  }
  return fmt::format("{} cannot run here; {} is the fastest that can{}.", own.strategy, fastest.strategy,
                     beside(numbers, fastest));
}

/// Whether one of those that need more is faster than all that do not.
bool is_faster_with_more(const ComparedGpus& numbers) {
  return std::ranges::any_of(numbers.strategies, [](const ComparedStrategy& row) {
    return row.standing == Standing::needs_more && row.ratio > 1;
  });
}

std::string sentence(const ComparedGpus& numbers, const std::string& own_strategy) {
  const ComparedStrategy* fastest = numbers.best();
  if (fastest == nullptr) return "none of the strategies runs.";
  const auto own = std::ranges::find(numbers.strategies, own_strategy, &ComparedStrategy::strategy);
  const bool is_named = own != numbers.strategies.end();
  const bool is_fastest = !is_named || own->strategy == fastest->strategy;
  if (fastest->point.fits() && is_fastest && is_faster_with_more(numbers)) return limited(numbers, *fastest);
  if (is_named) return about_own(numbers, *own, *fastest);
  if (!fastest->point.fits()) return "none fits into the GPU's memory.";
  return fmt::format("{} is the fastest{}.", fastest->strategy, beside(numbers, *fastest));
}

}  // namespace

std::string comparison_verdict(const ComparedGpus& numbers, const std::string& own_strategy) {
  return fmt::format("{}: {}", counted(numbers.gpus, "GPU"), sentence(numbers, own_strategy));
}

}  // namespace foretrain

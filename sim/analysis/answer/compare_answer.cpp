// The answer has one sentence for each standing that the scenario's own strategy can have, and one action.
#include "sim/analysis/answer/compare_answer.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "sim/analysis/answer/answer_words.hpp"
#include "sim/analysis/search/strategy_order.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"

namespace foretrain {

namespace {

/// Returns how much faster the fastest is than a row: "4 % faster".
std::string faster_by(const ComparedStrategy& row) {
  return fmt::format("{} % faster", percent(1 / row.ratio - 1, 0));
}

/// Returns the interval of that figure at 90 %, which is the inverse of the ratio's interval.
std::string likely(const ComparedStrategy& row) {
  return fmt::format("90 %: {} to {} %", signed_percent(1 / row.ratio_range.high - 1, 0),
                     signed_percent(1 / row.ratio_range.low - 1, 0));
}

/// Most names of equally fast strategies in a sentence; more are counted instead.
constexpr std::size_t kMostTied = 3;

/// Returns the strategies that share the first place, ", zero1 and zero2 within 2 % of it"; empty if none
/// does.
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

/// Returns the sentence used where a strategy with further requirements is faster than all others.
std::string limited(const ComparedGpus& numbers, const ComparedStrategy& fastest) {
  return fmt::format("{} is the fastest of those that need nothing but a change of the strategy{}.",
                     fastest.strategy, beside(numbers, fastest));
}

/// Returns the sentence on the scenario's own strategy. Requires that it is among the rows.
std::string about_own(const ComparedGpus& numbers, const ComparedStrategy& own,
                      const ComparedStrategy& fastest) {
  switch (own.standing) {
    case Standing::as_fast:
      if (own.strategy == fastest.strategy)
        return fmt::format("{} is the fastest{}.", own.strategy, beside(numbers, fastest));
      return fmt::format("{} is within {} % of the fastest, {}: no reason to switch.", own.strategy,
                         percent(kWorthSwitching, 0), fastest.strategy);
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

/// Returns true if a strategy with further requirements is faster than all without.
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

/// Returns the kind of verdict. The fastest of all gives `time`, as do ties; shortage of memory comes first.
VerdictKind kind_of(const ComparedGpus& numbers, const std::string& own_strategy) {
  const ComparedStrategy* fastest = numbers.best();
  if (fastest == nullptr) return VerdictKind::would_not_start;
  const auto own = std::ranges::find(numbers.strategies, own_strategy, &ComparedStrategy::strategy);
  const Standing standing = own == numbers.strategies.end() ? Standing::as_fast : own->standing;
  if (standing == Standing::does_not_fit || !fastest->point.fits()) return VerdictKind::does_not_fit;
  return standing == Standing::slower ? VerdictKind::slower : VerdictKind::time;
}

/// Returns a name with the option that selects it; layouts have no such option.
std::string option_for(const std::string& name, bool are_strategies) {
  return are_strategies ? fmt::format("{} (--strategy {})", name, name) : name;
}

std::string action_of(const ComparedGpus& numbers, const std::string& own_strategy, bool are_strategies) {
  const ComparedStrategy* fastest = numbers.best();
  if (fastest == nullptr) return "Ask for another number of GPUs: none of these strategies runs on it.";
  if (!fastest->point.fits()) return "Take a smaller batch or more GPUs: foretrain predict says which fits.";
  const auto own = std::ranges::find(numbers.strategies, own_strategy, &ComparedStrategy::strategy);
  const std::string to_fastest =
      fmt::format("Use {}.", option_for(numbers.first()->strategy, are_strategies));
  if (own == numbers.strategies.end()) return to_fastest;
  switch (own->standing) {
    case Standing::as_fast:
      return fmt::format("Stay with {}.", own->strategy);
    case Standing::not_told_apart:
      return fmt::format("Stay with {}, or measure both: the predictions cannot tell them apart.",
                         own->strategy);
    default:
      return to_fastest;
  }
}

/// Returns the sentence on the part that the fastest saves most on, against a slower row.
std::string saved_by_fastest(const ComparedStrategy& row, const ComparedStrategy& fastest) {
  if (&row == &fastest || row.against_best.empty() || row.standing == Standing::as_fast) return {};
  const auto most = std::ranges::max_element(row.against_best, {}, &StepPart::seconds);
  return most->seconds > 0 ? fmt::format(" {} saves most on {}.", fastest.strategy, most->name) : "";
}

}  // namespace

const ComparedStrategy* compared_row(const ComparedGpus& numbers, const std::string& own_strategy) {
  const auto own = std::ranges::find(numbers.strategies, own_strategy, &ComparedStrategy::strategy);
  const bool runs = own != numbers.strategies.end() && own->why_not.empty() && own->point.fits();
  return runs ? &*own : numbers.best();
}

Answer answer_of(const ComparedGpus& numbers, const std::string& own_strategy,
                 std::optional<StepCauses> causes, bool are_strategies) {
  Answer answer;
  answer.kind = kind_of(numbers, own_strategy);
  answer.verdict = comparison_verdict(numbers, own_strategy);
  answer.action = action_of(numbers, own_strategy, are_strategies);
  answer.gpus = numbers.gpus;
  answer.counts = {numbers.gpus};
  answer.quantity = "step";
  const ComparedStrategy* row = compared_row(numbers, own_strategy);
  if (row == nullptr) return answer;
  answer.value_s = row->point.step_s;
  answer.causes = std::move(causes);
  if (!answer.causes) return answer;
  answer.cause = fmt::format("With {}: {}{}", row->strategy, cause_words(*answer.causes, row->point),
                             saved_by_fastest(*row, *numbers.best()));
  return answer;
}

std::string comparison_verdict(const ComparedGpus& numbers, const std::string& own_strategy) {
  return fmt::format("{}: {}", counted(numbers.gpus, "GPU"), sentence(numbers, own_strategy));
}

}  // namespace foretrain

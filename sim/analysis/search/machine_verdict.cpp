// The verdict of a comparison of machines. The fastest and the cheapest row are found first. If they are the
// same row, it wins. The sentence then compares it with the strongest row on more GPUs of another cluster,
// which a user would otherwise have chosen.
#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <functional>

#include <fmt/format.h>

#include "sim/analysis/advice/job_order.hpp"
#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/search/machines.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/base/spoken.hpp"

namespace foretrain {

namespace {

/// A figure by which rows are compared; smaller is better.
using RowFigure = std::function<double(const MachineRow&)>;

/// Returns the best row by `first`; of rows that are alike in it, the best by `second`, then the one on fewer
/// GPUs. Returns nullptr if no row `counts`.
const MachineRow* least(const std::vector<MachineRow>& rows,
                        const std::function<bool(const MachineRow&)>& counts, const RowFigure& first,
                        const RowFigure& second) {
  double lowest = INFINITY;
  for (const MachineRow& row : rows)
    if (counts(row)) lowest = std::min(lowest, first(row));
  const MachineRow* best = nullptr;
  for (const MachineRow& row : rows) {
    if (!counts(row) || kAlike * first(row) > lowest) continue;
    const auto key = [&](const MachineRow& r) { return std::pair(second(r), r.gpus); };
    if (best == nullptr || key(row) < key(*best)) best = &row;
  }
  return best;
}

/// Returns the index of a row, none for nullptr.
std::optional<std::size_t> place_of(const MachineComparison& c, const MachineRow* row) {
  return row != nullptr ? std::optional(static_cast<std::size_t>(row - c.rows.data())) : std::nullopt;
}

std::string number_word(int number) {
  static constexpr std::array<std::string_view, 12> kWords{
      "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"};
  const auto at = static_cast<std::size_t>(number - 1);
  return at < kWords.size() ? std::string(kWords[at]) : fmt::format("{}", number);
}

/// Returns a machine in words: "two P100 of m3-p100".
std::string machine(const MachineRow& row) {
  return fmt::format("{} {} of {}", number_word(row.gpus), short_gpu_name(row.gpu), row.cluster);
}

/// Returns the verb's form for one GPU or for several.
std::string verb(const MachineRow& row, std::string_view one, std::string_view several) {
  return std::string(row.gpus == 1 ? one : several);
}

std::string counted_in(const MachineComparison& c, const MachineRow& row) {
  if (!c.counts_cost) return "GPU-hours";
  return row.cost_unit.empty() ? "cost" : row.cost_unit;
}

std::string least_of(const std::string& unit) { return (unit == "cost" ? "least " : "fewest ") + unit; }

std::string amount_words(AmountOf amount) {
  if (amount == AmountOf::run) return "";
  return amount == AmountOf::epoch ? " an epoch" : " per million samples";
}

std::string two_digits(double value) { return value < 10 ? fmt::format("{:.2g}", value) : decimal(value, 0); }

/// Returns time and price of a row: "2 h 5 min an epoch for 8.2 GPU-hours".
std::string bill(const MachineComparison& c, const MachineRow& row) {
  const std::string unit = counted_in(c, row), paid = two_digits(price_of(c, row));
  std::string price = unit == "cost" ? "a cost of " + paid : fmt::format("{} {}", paid, unit);
  if (price == "1 GPU-hours") price = "1 GPU-hour";
  return fmt::format("{}{} for {}", spoken_duration(row.time_s), amount_words(c.amount), price);
}

/// Returns the price of a row relative to another: "half the GPU-hours", "68 % fewer GPU-hours", "1.4 times
/// the cost".
std::string price_against(const MachineComparison& c, const MachineRow& row, const MachineRow& other) {
  const double ratio = price_of(c, row) / price_of(c, other);
  const std::string unit = counted_in(c, row);
  if (is_alike(ratio, 1)) return "the same " + unit;
  if (std::abs(ratio - 0.5) < 0.025) return "half the " + unit;
  if (ratio > 1.995) return fmt::format("{} times the {}", spoken_factor(ratio), unit);
  return fmt::format("{} % {} {}", percent(std::abs(ratio - 1), 0),
                     ratio > 1 ? "more" : (unit == "cost" ? "less" : "fewer"), unit);
}

/// Returns the row that the winner is compared with: the fastest on more GPUs of another cluster, else the
/// fastest of another cluster, else the fastest other row. Returns nullptr if no other row runs.
const MachineRow* opponent_of(const MachineComparison& c, const MachineRow& winner) {
  const MachineRow* found = nullptr;
  const auto rank = [&winner](const MachineRow& row) {
    return (row.cluster != winner.cluster ? 2 : 0) +
           (row.cluster != winner.cluster && row.gpus > winner.gpus ? 1 : 0);
  };
  for (const MachineRow& row : c.rows)
    if (row.runs() && &row != &winner && (found == nullptr || rank(row) > rank(*found))) found = &row;
  return found;
}

/// Returns a sentence on the probability that the order of two rows is right; empty without intervals.
std::string sureness(const MachineRow& row, const MachineRow& slower) {
  if (row.time.low_s <= 0 || slower.time.low_s <= 0) return "";
  const double chance = chance_of_faster(row, slower);
  return chance > 0.99
             ? " The chance that the first is faster is over 99 %."
             : fmt::format(" The chance that the first is faster is at least {}.", spoken_chance(chance));
}

/// Returns a sentence on the other rows: how many there are, or that no other cluster can run the training.
std::string among(const MachineComparison& c, const MachineRow& winner) {
  const auto running = std::ranges::count_if(c.rows, &MachineRow::runs);
  const auto is_elsewhere = [&winner](const MachineRow& row) { return row.cluster != winner.cluster; };
  const bool runs_elsewhere =
      std::ranges::any_of(c.rows, [&](const MachineRow& row) { return row.runs() && is_elsewhere(row); });
  if (!runs_elsewhere && std::ranges::any_of(c.rows, is_elsewhere)) return " No other cluster can run it.";
  if (running < 3) return "";
  return fmt::format(" {} the fastest and the cheapest of the {} that can run it.",
                     verb(winner, "It is", "They are"), running);
}

/// Returns the verdict where one row is both fastest and cheapest.
std::string about_winner(const MachineComparison& c, const MachineRow& winner) {
  const MachineRow* other = opponent_of(c, winner);
  if (c.rows.size() == 1)
    return fmt::format("{} {} {}.", capitalized(machine(winner)), verb(winner, "takes", "take"),
                       bill(c, winner));
  if (other == nullptr)
    return fmt::format("Only {} can run this training: {}.", machine(winner), bill(c, winner));
  const std::string price = price_against(c, winner, *other);
  const bool is_as_fast = is_alike(winner.time_s, other->time_s);
  const bool is_as_cheap = is_alike(price_of(c, winner), price_of(c, *other));
  if (is_as_fast && is_as_cheap)
    return fmt::format("{} and {} tie: neither time nor {} differs by more than two runs of one job do.",
                       capitalized(machine(winner)), machine(*other), counted_in(c, winner));
  if (is_as_fast)
    return fmt::format("{} {} as fast as {}, for {}.", capitalized(machine(winner)),
                       verb(winner, "is", "are"), machine(*other), price) +
           among(c, winner);
  return fmt::format("{} {} {}: {} times faster {} {}.", capitalized(machine(winner)),
                     verb(winner, "beats", "beat"), machine(*other),
                     spoken_factor(other->time_s / winner.time_s), is_as_cheap ? "for" : "and", price) +
         among(c, winner) + sureness(winner, *other);
}

/// Returns the verdict where the fastest and the cheapest are different rows.
std::string about_trade(const MachineComparison& c, const MachineRow& fastest, const MachineRow& cheapest) {
  const std::string either_way =
      fastest.cluster == cheapest.cluster ? fmt::format(" Both are on {}.", fastest.cluster) : "";
  return fmt::format("{} {} fastest: {}. {} {} cheapest: {}, {} times slower with {}.{}",
                     capitalized(machine(fastest)), verb(fastest, "is", "are"), bill(c, fastest),
                     capitalized(machine(cheapest)), verb(cheapest, "is", "are"), bill(c, cheapest),
                     spoken_factor(cheapest.time_s / fastest.time_s), price_against(c, cheapest, fastest),
                     either_way);
}

std::string with_range(const MachineRow& row) {
  return fmt::format("{} (90 %: {})", spoken_duration(row.time_s),
                     spoken_range(row.time.low_s, row.time.high_s));
}

/// Returns true if the upper end of the row's interval keeps the deadline, which is a probability of 95 %.
bool keeps(const MachineRow& row, double deadline_s) { return row.runs() && row.time.high_s <= deadline_s; }

/// Returns the verdict with a deadline: the cheapest row that keeps it, or the fastest one if none does.
std::string about_deadline(const MachineComparison& c, const MachineRow& fastest, const MachineRow* best) {
  const std::string limit = spoken_duration(*c.deadline_s);
  if (best == nullptr)
    return fmt::format("No machine keeps {} with 95 %. The fastest, {}, takes {} and keeps it with {}.",
                       limit, machine(fastest), with_range(fastest),
                       spoken_chance(chance_in_time(fastest.time_s, fastest.time, *c.deadline_s)));
  const auto others = std::ranges::count_if(
      c.rows, [&](const MachineRow& row) { return &row != best && keeps(row, *c.deadline_s); });
  const std::string sentence = fmt::format(
      "{} {} {} with 95 %{}: {}.", capitalized(machine(*best)), verb(*best, "keeps", "keep"), limit,
      others == 0 ? ", and nothing else does" : " for the " + least_of(counted_in(c, *best)), bill(c, *best));
  if (&fastest == best || !keeps(fastest, *c.deadline_s)) return sentence;
  return fmt::format("{} {} would be {} times faster with {}.", sentence, capitalized(machine(fastest)),
                     spoken_factor(best->time_s / fastest.time_s), price_against(c, fastest, *best));
}

/// Orders the rows by time, those that cannot run last, and sets their relative speeds.
void order_rows(MachineComparison& c) {
  std::ranges::stable_sort(c.rows, [](const MachineRow& a, const MachineRow& b) {
    if (a.runs() != b.runs()) return a.runs();
    return a.runs() && a.time_s < b.time_s;
  });
  for (MachineRow& row : c.rows)
    if (row.runs()) row.speed = c.rows.front().time_s / row.time_s;
}

}  // namespace

double price_of(const MachineComparison& comparison, const MachineRow& row) {
  return comparison.counts_cost && row.cost ? *row.cost : row.gpu_hours;
}

double chance_of_faster(const MachineRow& row, const MachineRow& slower) {
  // The ends of a 90 % interval are the 5 % and 95 % quantiles of the logarithm.
  constexpr double kQuantile95 = 1.6448536269514722;
  const auto variance = [](const Interval& time) {
    const double spread = 0.5 * std::log(time.high_s / time.low_s) / kQuantile95;
    return spread * spread;
  };
  const auto middle = [](const Interval& time) {
    return 0.5 * (std::log(time.low_s) + std::log(time.high_s));
  };
  const double gap = middle(slower.time) - middle(row.time);
  const double spread = std::sqrt(variance(row.time) + variance(slower.time));
  if (spread <= 0) return gap > 0 ? 1 : gap < 0 ? 0 : 0.5;
  return 0.5 * std::erfc(-gap / (spread * std::sqrt(2.0)));
}

/// A name with a family keeps it; of other names the first part is the product.
std::string short_gpu_name(std::string_view gpu) {
  const bool has_family = gpu.starts_with("rtx-") || gpu.starts_with("quadro-");
  std::string name(has_family ? gpu : gpu.substr(0, gpu.find('-')));
  for (char& c : name) c = c == '-' ? ' ' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

void judge_machines(MachineComparison& c) {
  order_rows(c);
  const auto runs = [](const MachineRow& row) { return row.runs(); };
  const RowFigure time = [](const MachineRow& row) { return row.time_s; };
  const RowFigure price = [&c](const MachineRow& row) { return price_of(c, row); };
  const MachineRow* fastest = least(c.rows, runs, time, price);
  const MachineRow* cheapest = least(c.rows, runs, price, time);
  c.fastest = place_of(c, fastest), c.cheapest = place_of(c, cheapest), c.best = std::nullopt;
  if (fastest == nullptr) {
    c.verdict = "None of these machines can run this training.";
  } else if (c.deadline_s) {
    const auto in_time = [&c](const MachineRow& row) { return keeps(row, *c.deadline_s); };
    const MachineRow* best = least(c.rows, in_time, price, time);
    c.best = place_of(c, best);
    c.verdict = about_deadline(c, *fastest, best);
  } else if (fastest == cheapest) {
    c.best = c.fastest;
    c.verdict = about_winner(c, *fastest);
  } else {
    c.verdict = about_trade(c, *fastest, *cheapest);
  }
}

}  // namespace foretrain

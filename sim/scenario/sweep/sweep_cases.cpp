// Cases. A number in mixed radix is a case: its digits are the values of the axes. Conditions are SQL over
// these values, the same language in which people filter results later.
#include "sim/scenario/sweep/sweep_cases.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/scenario/study_options.hpp"

namespace foretrain {

namespace {

/// Prime of the FNV-1a hash.
constexpr std::uint64_t kHashPrime = 1099511628211ULL;
/// Operations of SQLite that one condition may take for one case.
constexpr std::int64_t kMostOperations = 1'000'000;
/// Numbers at which an estimate looks.
constexpr std::int64_t kLookedAt = 100'000;
/// A place beyond every line of a scenario's file, so that names of files are relative to the working folder.
constexpr SourceSpan kNoFile{1 << 30, 1, 1};

void refuse_too_many(double numbers) {
  if (numbers <= static_cast<double>(kMostCases)) return;
  throw InputError(
      fmt::format("the sweep has {} cases, at most {} are predicted",
                  numbers < 1e15 ? fmt::format("{:.0f}", numbers) : fmt::format("{:.3g}", numbers),
                  kMostCases),
      "fewer values, or [sample] instead of [axes], which draws as many as count says");
}

}  // namespace

std::uint64_t content_hash(std::string_view text, std::uint64_t before) {
  for (const char c : text) before = (before ^ static_cast<unsigned char>(c)) * kHashPrime;
  return before;
}

/// Options are compared with each value of the strategy's column once, so that a case needs a look-up only.
SweepCases::SweepCases(const Sweep& sweep, const std::string& strategy, const SourceText& source)
    : strategy_(strategy) {
  add_digits(sweep);
  strategy_column_ = columns_.size();
  // Column of the strategies; columns_.size() when none varies.
  for (std::size_t c = 0; c < columns_.size(); ++c)
    if (columns_[c]->key == "strategy.name") strategy_column_ = c;
  for (const StudyAxis* column : columns_) {
    std::vector<bool>& known = applies_.emplace_back();
    const bool varies = strategy_column_ < columns_.size();
    const std::size_t strategies = varies ? columns_[strategy_column_]->values.size() : 1;
    for (std::size_t s = 0; s < strategies; ++s) {
      // The strategy of a case decides which options it has.
      const auto* name =
          varies ? std::get_if<std::string>(&columns_[strategy_column_]->values[s].data) : &strategy_;
      known.push_back(name == nullptr || is_option_of(*name, column->key));
      has_repeats_ = has_repeats_ || !known.back();
    }
  }
  prepare_conditions(sweep, source);
}

/// Assigns the digits. Drawn columns are between the axes and the numbers of GPUs, and share one digit.
void SweepCases::add_digits(const Sweep& sweep) {
  double numbers = sweep.sampled.empty() ? 1 : static_cast<double>(sweep.sampled.front().values.size());
  for (const StudyAxis& axis : sweep.axes) numbers *= static_cast<double>(axis.values.size());
  refuse_too_many(numbers);
  const bool has_gpus = !sweep.axes.empty() && sweep.axes.back().key == "run.gpus";
  const std::size_t before = sweep.axes.size() - (has_gpus ? 1 : 0);
  // Numbers of GPUs come last, so that a group has neighbouring numbers.
  for (std::size_t i = 0; i < before; ++i) columns_.push_back(&sweep.axes[i]);
  first_drawn_ = columns_.size(), drawn_ = sweep.sampled.size();
  for (const StudyAxis& axis : sweep.sampled) columns_.push_back(&axis);
  if (has_gpus) columns_.push_back(&sweep.axes.back());
  digits_.resize(columns_.size());
  // The stride of a digit is the product of the sizes of the digits behind it.
  for (std::size_t c = columns_.size(); c-- > 0;) {
    digits_[c] = {static_cast<std::int64_t>(columns_[c]->values.size()), numbers_};
    const bool is_of_drawn = c > first_drawn_ && c < first_drawn_ + drawn_;
    if (!is_of_drawn) numbers_ *= digits_[c].size;
  }
  if (has_gpus) group_size_ = digits_.back().size;
}

/// Compiles each condition as a query over one row, whose columns are the axes. Wrong ones are reported at
/// their places.
void SweepCases::prepare_conditions(const Sweep& sweep, const SourceText& source) {
  if (sweep.conditions.empty()) return;
  memory_ = std::make_unique<SqlFile>(":memory:", SqlAccess::memory);
  memory_->only_read(kMostOperations);
  std::string names;
  for (std::size_t c = 0; c < columns_.size(); ++c)
    names += fmt::format("{}?{} AS {}", c == 0 ? "" : ", ", c + 1, sql_name(columns_[c]->name));
  Diagnostics mistakes(source);
  for (const SweepCondition& condition : sweep.conditions) {
    try {
      conditions_.push_back(memory_->prepare_foreign(
          fmt::format("SELECT ({}\n) FROM (SELECT {})", condition.text, names), "where"));
    } catch (const InputError& error) {
      mistakes.report(condition.span, error.first_message(),
                      "the axes are its names, in double quotes those with dots");
    }
  }
  mistakes.throw_if_any();
}

const std::string& SweepCases::strategy_of(std::int64_t number) const {
  if (strategy_column_ == columns_.size()) return strategy_;
  const Value& value = columns_[strategy_column_]->values[index(strategy_column_, number)];
  const auto* name = std::get_if<std::string>(&value.data);
  return name == nullptr ? strategy_ : *name;
}

bool SweepCases::applies(std::size_t column, std::int64_t number) const {
  const std::size_t strategy = strategy_column_ == columns_.size() ? 0 : index(strategy_column_, number);
  return applies_[column][strategy];
}

// Each change adds the difference of the digits times the stride.
std::int64_t SweepCases::with(std::int64_t number, std::size_t column, std::size_t place) const {
  const auto set = [&](std::size_t c, std::size_t to) {
    number +=
        (static_cast<std::int64_t>(to) - static_cast<std::int64_t>(index(c, number))) * digits_[c].stride;
  };
  set(column, place);
  for (std::size_t c = 0; c < columns_.size() && has_repeats_; ++c)
    if (!applies(c, number)) set(c, 0);
  return number;
}

std::vector<Value> SweepCases::values(std::int64_t number) const {
  std::vector<Value> out;
  out.reserve(columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c)
    out.push_back(applies(c, number) ? columns_[c]->values[index(c, number)] : Value{});
  return out;
}

/// An option that the strategy lacks stays at its first value, so that combinations which differ there only
/// count once. Drawn columns are exempt, because their points differ in other columns.
bool SweepCases::is_case(std::int64_t number, const std::vector<Value>& values) {
  // The smallest of equal numbers has the first value of each option without effect.
  for (std::size_t c = 0; c < columns_.size() && has_repeats_; ++c) {
    const bool is_drawn = c >= first_drawn_ && c < first_drawn_ + drawn_;
    if (!is_drawn && !applies(c, number) && index(c, number) > 0) return false;
  }
  // NULL and 0 count as false, as in SQL.
  for (SqlStatement& condition : conditions_) {
    condition.reset();
    for (std::size_t c = 0; c < values.size(); ++c) condition.bind(static_cast<int>(c), values[c]);
    if (!condition.step() || condition.is_null(0) || condition.number(0) == 0) return false;
  }
  return true;
}

std::vector<StudySetting> SweepCases::settings(const std::vector<Value>& values) const {
  std::vector<StudySetting> out;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    const StudyAxis& axis = *columns_[c];
    // One scenario has all numbers of GPUs of its group.
    if (axis.key == "run.gpus")
      out.push_back({axis.key, {Array(axis.values)}, kNoFile});
    else if (!std::holds_alternative<std::monostate>(values[c].data))
      out.push_back({axis.key, {values[c].data, kNoFile}, kNoFile});
  }
  return out;
}

std::uint64_t SweepCases::hash(const std::vector<Value>& values, std::uint64_t scenario) const {
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    // A value without effect is no part of the hash.
    if (std::holds_alternative<std::monostate>(values[c].data)) continue;
    scenario = content_hash(columns_[c]->key, scenario);
    scenario = content_hash(fmt::format("={}:{}\n", values[c].data.index(), text_of(values[c])), scenario);
  }
  return scenario;
}

/// Small sweeps are counted one by one. Large ones are estimated from every n-th number.
CaseCount SweepCases::count(const Shard& shard) {
  const auto holds = [&](std::int64_t number) {
    return SweepCases::is_of(number / group_size_, shard) && is_case(number, values(number));
  };
  const std::int64_t own_groups = (groups() - shard.part + shard.of) / shard.of;
  // Without conditions and options every number is a case.
  if (conditions_.empty() && !has_repeats_) return {own_groups * group_size_, true};
  const bool is_exact = own_groups * group_size_ <= kMostCounted;
  const std::int64_t every = is_exact ? 1 : numbers_ / kLookedAt;
  std::int64_t found = 0, looked = 0;
  if (is_exact) {
    for (std::int64_t group = shard.part - 1; group < groups(); group += shard.of)
      for (std::int64_t i = 0; i < group_size_; ++i) found += holds(group * group_size_ + i) ? 1 : 0;
    return {found, true};
  }
  for (std::int64_t number = 0; number < numbers_; number += every, ++looked)
    found += is_case(number, values(number)) ? 1 : 0;
  const double share = static_cast<double>(found) / static_cast<double>(looked);
  return {static_cast<std::int64_t>(share * static_cast<double>(own_groups * group_size_)), false};
}

}  // namespace foretrain

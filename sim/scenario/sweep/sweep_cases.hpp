// The cases of a sweep by their numbers: which there are, what each sets, which belong to a shard.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/scenario/sweep/sql.hpp"
#include "sim/scenario/sweep/sweep.hpp"

namespace foretrain {

/// FNV-1a of 64 bits, on top of what came before.
inline constexpr std::uint64_t kHashBasis = 14695981039346656037ULL;
std::uint64_t content_hash(std::string_view text, std::uint64_t before = kHashBasis);

/// One of `of` parts, counted from 1.
struct Shard {
  std::int64_t part = 1, of = 1;
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// How many cases there are; above kMostCounted numbers an estimate from evenly spaced ones.
struct CaseCount {
  std::int64_t cases = 0;
  bool is_exact = true;
};

/// Numbers count through the axes as through digits, the last axis fastest. Cases that differ only in their
/// number of GPUs are a group, which is one scenario; shards take groups in turn. Not for several threads.
class SweepCases {
 public:
  /// `strategy`: of the scenario, where no axis has any. Throws InputError for conditions that are none, at
  /// their places in `source`, and for more than kMostCases.
  SweepCases(const Sweep& sweep, const std::string& strategy, const SourceText& source);

  /// Axes, drawn values, numbers of GPUs last.
  const std::vector<const StudyAxis*>& columns() const { return columns_; }
  std::int64_t numbers() const { return numbers_; }
  std::int64_t groups() const { return numbers_ / group_size_; }
  std::int64_t group_size() const { return group_size_; }
  static bool is_of(std::int64_t group, const Shard& shard) { return group % shard.of == shard.part - 1; }

  /// Which of its values a column has in a case.
  std::size_t place(std::size_t column, std::int64_t number) const { return index(column, number); }
  /// The case with another value in one column; options that the strategy then lacks go to their first.
  std::int64_t with(std::int64_t number, std::size_t column, std::size_t place) const;

  /// By column; nothing where the case's strategy does not have the option.
  std::vector<Value> values(std::int64_t number) const;
  /// Whether these are a case: all conditions hold, and no smaller number is the same.
  bool is_case(std::int64_t number, const std::vector<Value>& values);
  /// The settings of all of a group's cases but their numbers of GPUs.
  std::vector<StudySetting> settings(const std::vector<Value>& values) const;
  /// Of what a case sets; `scenario`: content_hash() of the scenario's text.
  std::uint64_t hash(const std::vector<Value>& values, std::uint64_t scenario) const;
  CaseCount count(const Shard& shard);

  static constexpr std::int64_t kMostCounted = 2'000'000;

 private:
  /// Which digit of a number a column's value is.
  struct Digit {
    std::int64_t size = 1, stride = 1;
  };
  std::size_t index(std::size_t column, std::int64_t number) const {
    const Digit& digit = digits_[column];
    return static_cast<std::size_t>(number / digit.stride % digit.size);
  }
  const std::string& strategy_of(std::int64_t number) const;
  bool applies(std::size_t column, std::int64_t number) const;
  void add_digits(const Sweep& sweep);
  void prepare_conditions(const Sweep& sweep, const SourceText& source);

  std::vector<const StudyAxis*> columns_;
  std::vector<Digit> digits_;
  std::size_t drawn_ = 0, first_drawn_ = 0;  ///< columns of one digit
  std::int64_t numbers_ = 1, group_size_ = 1;
  std::string strategy_;
  std::size_t strategy_column_;
  std::vector<std::vector<bool>> applies_;  ///< by column, by value of the strategy's column
  bool has_repeats_ = false;
  std::unique_ptr<SqlFile> memory_;
  std::vector<SqlStatement> conditions_;
};

}  // namespace foretrain

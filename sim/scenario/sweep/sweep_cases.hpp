// The cases of a sweep by their numbers: which exist, what each sets, and which belong to a shard.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/scenario/sweep/sql.hpp"
#include "sim/scenario/sweep/sweep.hpp"

namespace foretrain {

/// Returns the FNV-1a hash of 64 bits of a text, continued from `before`.
inline constexpr std::uint64_t kHashBasis = 14695981039346656037ULL;
std::uint64_t content_hash(std::string_view text, std::uint64_t before = kHashBasis);

/// One of `of` equal parts of a sweep, counted from 1.
struct Shard {
  std::int64_t part = 1, of = 1;
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// The number of cases; above kMostCounted numbers it is an estimate from evenly spaced ones.
struct CaseCount {
  std::int64_t cases = 0;
  bool is_exact = true;
};

/// The cases of one sweep. A number counts through the axes like digits, the last axis fastest. Cases that
/// differ only in their number of GPUs are a group, which is one scenario; shards take groups in turn. Not
/// thread-safe. The sweep must outlive this object.
class SweepCases {
 public:
  /// `strategy`: the scenario's, if no axis has strategies. Throws InputError for conditions that are not
  /// valid, at their places in `source`, and for more than kMostCases.
  SweepCases(const Sweep& sweep, const std::string& strategy, const SourceText& source);

  /// Returns all axes, then the drawn ones, numbers of GPUs last.
  const std::vector<const StudyAxis*>& columns() const { return columns_; }
  /// Returns the number of combinations, including those that are no cases.
  std::int64_t numbers() const { return numbers_; }
  std::int64_t groups() const { return numbers_ / group_size_; }
  std::int64_t group_size() const { return group_size_; }
  static bool is_of(std::int64_t group, const Shard& shard) { return group % shard.of == shard.part - 1; }

  /// Returns the index of a column's value in a case.
  std::size_t place(std::size_t column, std::int64_t number) const { return index(column, number); }
  /// Returns the number of the case with another value in one column; options that the strategy then lacks
  /// get their first value.
  std::int64_t with(std::int64_t number, std::size_t column, std::size_t place) const;

  /// Returns the values by column; nothing where the case's strategy does not have the option.
  std::vector<Value> values(std::int64_t number) const;
  /// Returns whether these values are a case: all conditions hold, and no smaller number has the same values.
  bool is_case(std::int64_t number, const std::vector<Value>& values);
  /// Returns the settings of a group's cases, without a single number of GPUs: all numbers of the axis are
  /// set.
  std::vector<StudySetting> settings(const std::vector<Value>& values) const;
  /// Returns the hash of a case's settings; `scenario`: content_hash() of the scenario's text.
  std::uint64_t hash(const std::vector<Value>& values, std::uint64_t scenario) const;
  /// Returns the number of cases of a shard.
  CaseCount count(const Shard& shard);

  /// Largest number of combinations that are counted exactly.
  static constexpr std::int64_t kMostCounted = 2'000'000;

 private:
  /// The digit of a number that is a column's value.
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
  /// The drawn columns, which share one digit.
  std::size_t drawn_ = 0, first_drawn_ = 0;
  std::int64_t numbers_ = 1, group_size_ = 1;
  std::string strategy_;
  std::size_t strategy_column_;
  /// True if the strategy has the option, by column and by value of the strategy's column.
  std::vector<std::vector<bool>> applies_;
  bool has_repeats_ = false;
  /// Conditions as prepared statements of a database in memory.
  std::unique_ptr<SqlFile> memory_;
  std::vector<SqlStatement> conditions_;
};

}  // namespace foretrain

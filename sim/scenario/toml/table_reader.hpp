// Takes typed values out of a table, remembers what was asked for, and reports everything else: wrong kinds,
// units, ranges, unknown keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// Reads one table. Every getter reports a mistake at the value and returns the fallback (or nullopt); none
/// throws.
class TableReader {
 public:
  /// `path` is the table's dotted name for messages ("run.every"), empty for the document.
  TableReader(const Table& table, std::string path, Diagnostics& diagnostics);

  bool has(std::string_view key) const;
  /// Whether unreadable lines of the text may have held keys of this table.
  bool damaged() const { return table_->damaged; }
  /// Where a key's value stands; the table itself when it is missing.
  SourceSpan span_of(std::string_view key) const;

  /// One line of text.
  std::optional<std::string> string(std::string_view key);
  /// Any number of lines, each ending with "\n" alone.
  std::optional<std::string> lines(std::string_view key);
  /// The value as it stands in the text, for versions, whose last zero counts; nothing for what is no number
  /// or text.
  std::optional<std::string> spelling(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  /// An integer in [least, most]; reports it with the range otherwise.
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most);
  /// A plain number in [least, most]; NaN and infinity are reported.
  std::optional<double> number(std::string_view key, double least, double most);
  /// A quantity with its unit, in the range of its dimension. A bare number is an error that shows the
  /// spelling.
  std::optional<Time> time(std::string_view key, const QuantityRange& range = kDurationRange);
  std::optional<Bytes> bytes(std::string_view key);
  std::optional<Flops> flops(std::string_view key);
  std::optional<ByteRate> byte_rate(std::string_view key);
  std::optional<FlopRate> flop_rate(std::string_view key);
  std::optional<double> watts(std::string_view key);
  /// One of `choices`; "did you mean" otherwise.
  std::optional<std::string> one_of(std::string_view key, const std::vector<std::string>& choices);
  std::optional<std::vector<std::int64_t>> integers(std::string_view key, std::int64_t least,
                                                    std::int64_t most, std::size_t longest);
  std::optional<std::vector<std::string>> strings(std::string_view key, std::size_t longest);
  const Table* table(std::string_view key);
  const Array* array(std::string_view key, std::size_t longest);
  /// Any value, marked as read.
  const Value* value(std::string_view key);

  /// Reports a required key that is not there, unless unreadable lines may have held it. `example` is a value
  /// or a whole line.
  void require(std::string_view key, std::string_view example);
  /// Reports every key nobody asked for, with the nearest known one. Call once, last.
  void finish();

  /// Reports a mistake; ignored once the diagnostics are full, so that hostile texts stay cheap.
  void report(SourceSpan span, std::string message, std::string hint = "");
  Diagnostics& diagnostics() { return *diagnostics_; }
  std::string full_name(std::string_view key) const;  ///< "run.gpus"

 private:
  const Value* take(std::string_view key);
  void must_be(std::string_view key, const Value& value, std::string_view what);
  const Value* take_text(std::string_view key);
  bool is_one_line(std::string_view key, const Value& value);
  std::optional<double> quantity(std::string_view key, Dimension dimension);
  std::optional<double> quantity(std::string_view key, Dimension dimension, const QuantityRange& range);

  const Table* table_;
  std::string path_;
  Diagnostics* diagnostics_;
  std::vector<std::string> asked_;
};

}  // namespace foretrain

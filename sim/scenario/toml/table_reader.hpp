// Takes typed values out of a table, remembers which keys were read, and reports everything else: wrong
// kinds, units, ranges, unknown keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/quantity.hpp"
#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// Reader of one table. Every getter marks its key as read, reports a mistake at the value, and then returns
/// nullopt or nullptr, as it does for a missing key. No getter throws. The table and the diagnostics must
/// outlive the reader.
class TableReader {
 public:
  /// `path` is the table's dotted name for messages ("run.every"), empty for the document.
  TableReader(const Table& table, std::string path, Diagnostics& diagnostics);

  /// Returns whether the table has the key; does not mark it as read.
  bool has(std::string_view key) const;
  /// Returns whether unreadable lines of the text may have held keys of this table.
  bool damaged() const { return table_->damaged; }
  /// Returns the place of a key's value; that of the table when the key is missing.
  SourceSpan span_of(std::string_view key) const;

  /// Returns one line of text.
  std::optional<std::string> string(std::string_view key);
  /// Returns any number of lines, each ending with "
  /// " alone.
  std::optional<std::string> lines(std::string_view key);
  /// Returns the value as it is spelt in the text, for versions, in which a trailing zero counts; nullopt
  /// unless it is a number or text.
  std::optional<std::string> spelling(std::string_view key);
  std::optional<bool> boolean(std::string_view key);
  /// Returns an integer in [least, most]; reports others with the range.
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t least, std::int64_t most);
  /// Returns a plain number in [least, most]; reports NaN and infinity.
  std::optional<double> number(std::string_view key, double least, double most);
  /// Return a quantity with its unit, in the range of its dimension. A bare number other than 0 is an error
  /// that shows the spelling.
  std::optional<Time> time(std::string_view key, const QuantityRange& range = kDurationRange);
  std::optional<Bytes> bytes(std::string_view key);
  std::optional<Flops> flops(std::string_view key);
  std::optional<ByteRate> byte_rate(std::string_view key);
  std::optional<FlopRate> flop_rate(std::string_view key);
  std::optional<double> watts(std::string_view key);
  /// Returns one of `choices`; reports others with the nearest choice.
  std::optional<std::string> one_of(std::string_view key, const std::vector<std::string>& choices);
  /// Return lists of at most `longest` elements; nullopt if any element is wrong.
  std::optional<std::vector<std::int64_t>> integers(std::string_view key, std::int64_t least,
                                                    std::int64_t most, std::size_t longest);
  std::optional<std::vector<std::string>> strings(std::string_view key, std::size_t longest);
  /// Return an inner table or list; nullptr when it is missing or of another kind.
  const Table* table(std::string_view key);
  const Array* array(std::string_view key, std::size_t longest);
  /// Returns any value, marked as read.
  const Value* value(std::string_view key);

  /// Reports a required key that is missing, unless unreadable lines may have held it. `example` is a value
  /// or a whole line.
  void require(std::string_view key, std::string_view example);
  /// Reports every key that was not read, with the nearest known one. To be called once, after all keys were
  /// read.
  void finish();

  /// Reports a mistake; does nothing once the diagnostics are full, so that hostile texts stay cheap.
  void report(SourceSpan span, std::string message, std::string hint = "");
  Diagnostics& diagnostics() { return *diagnostics_; }
  /// Returns the key with its table, as in "run.gpus".
  std::string full_name(std::string_view key) const;

 private:
  /// Marks a key as read and returns its value, nullptr when it is missing or unreadable.
  const Value* take(std::string_view key);
  /// Reports that a value has the wrong kind.
  void must_be(std::string_view key, const Value& value, std::string_view what);
  const Value* take_text(std::string_view key);
  bool is_one_line(std::string_view key, const Value& value);
  std::optional<double> quantity(std::string_view key, Dimension dimension);
  std::optional<double> quantity(std::string_view key, Dimension dimension, const QuantityRange& range);

  const Table* table_;
  std::string path_;
  Diagnostics* diagnostics_;
  /// Keys that were read, for finish() and its hints.
  std::vector<std::string> asked_;
};

}  // namespace foretrain

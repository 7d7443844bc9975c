// Typed access to a table. Each getter marks its key as read, checks kind and range, and names the key in
// full in messages.
//
// Mistakes are collected and not thrown one by one: a reader marks a value as wrong, goes on with a default,
// and the caller throws once at the end with every mistake, each with line, column, caret and a hint. A value
// that was read is marked as used; a key that nobody used is unknown, and the nearest known name is
// suggested.
#include "sim/scenario/toml/table_reader.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/names.hpp"

namespace foretrain {

namespace {

std::string range_text(std::string_view noun, std::int64_t least, std::int64_t most) {
  return fmt::format("{} from {} to {}", noun, least, most);
}

bool within(const Value& value, std::int64_t least, std::int64_t most) {
  const auto* number = std::get_if<std::int64_t>(&value.data);
  return number != nullptr && *number >= least && *number <= most;
}

/// The parser has reported such a value already.
bool unreadable(const Value& value) { return std::holds_alternative<std::monostate>(value.data); }

bool is_number(const Value& value) {
  return std::holds_alternative<std::int64_t>(value.data) || std::holds_alternative<double>(value.data);
}

double as_number(const Value& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return static_cast<double>(*integer);
  return std::get<double>(value.data);
}

}  // namespace

TableReader::TableReader(const Table& table, std::string path, Diagnostics& diagnostics)
    : table_(&table), path_(std::move(path)), diagnostics_(&diagnostics) {}

std::string TableReader::full_name(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

bool TableReader::has(std::string_view key) const { return table_->find(key) != nullptr; }

SourceSpan TableReader::span_of(std::string_view key) const {
  const Entry* entry = table_->find(key);
  return entry != nullptr ? entry->value.span : table_->span;
}

void TableReader::report(SourceSpan span, std::string message, std::string hint) {
  if (diagnostics_->found().size() >= Diagnostics::kMostDiagnostics) return;
  diagnostics_->report(span, std::move(message), std::move(hint));
}

const Value* TableReader::take(std::string_view key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
  const Entry* entry = table_->find(key);
  return entry == nullptr || unreadable(entry->value) ? nullptr : &entry->value;
}

void TableReader::must_be(std::string_view key, const Value& value, std::string_view what) {
  if (!unreadable(value))
    report(value.span, fmt::format("{} must be {}, not {}", full_name(key), what, kind_of(value)));
}

const Value* TableReader::value(std::string_view key) { return take(key); }

std::optional<std::string> TableReader::spelling(std::string_view key) {
  const Value* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* text = std::get_if<std::string>(&value->data)) return *text;
  const bool number =
      std::holds_alternative<double>(value->data) || std::holds_alternative<std::int64_t>(value->data);
  // The source text still has the spelling that parsing has lost.
  const std::string_view line = diagnostics_->source().line(value->span.line);
  const auto begin = static_cast<std::size_t>(value->span.column) - 1;
  if (!number || begin >= line.size()) return std::nullopt;
  return std::string(line.substr(begin, static_cast<std::size_t>(value->span.length)));
}

const Value* TableReader::take_text(std::string_view key) {
  const Value* value = take(key);
  if (value == nullptr || std::holds_alternative<std::string>(value->data)) return value;
  must_be(key, *value, "a string");
  return nullptr;
}

bool TableReader::is_one_line(std::string_view key, const Value& value) {
  if (std::get<std::string>(value.data).find_first_of("\r\n") == std::string::npos) return true;
  report(value.span, fmt::format("{} must be one line of text", full_name(key)));
  return false;
}

std::optional<std::string> TableReader::string(std::string_view key) {
  const Value* value = take_text(key);
  if (value == nullptr || !is_one_line(key, *value)) return std::nullopt;
  return std::get<std::string>(value->data);
}

std::optional<std::string> TableReader::lines(std::string_view key) {
  const Value* value = take_text(key);
  if (value == nullptr) return std::nullopt;
  std::string text = std::get<std::string>(value->data);
  std::erase(text, '\r');
  return text;
}

std::optional<bool> TableReader::boolean(std::string_view key) {
  const Value* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (const auto* flag = std::get_if<bool>(&value->data)) return *flag;
  must_be(key, *value, "true or false");
  return std::nullopt;
}

std::optional<std::int64_t> TableReader::integer(std::string_view key, std::int64_t least,
                                                 std::int64_t most) {
  const Value* value = take(key);
  if (value == nullptr) return std::nullopt;
  if (within(*value, least, most)) return std::get<std::int64_t>(value->data);
  report(value->span, fmt::format("{} must be {}", full_name(key), range_text("an integer", least, most)));
  return std::nullopt;
}

std::optional<double> TableReader::number(std::string_view key, double least, double most) {
  const Value* value = take(key);
  if (value == nullptr) return std::nullopt;
  // NaN fails both comparisons, so it is reported like a value out of range.
  const double found = is_number(*value) ? as_number(*value) : std::nan("");
  if (found >= least && found <= most) return found;
  report(value->span, fmt::format("{} must be a number from {} to {}", full_name(key), least, most));
  return std::nullopt;
}

std::optional<double> TableReader::quantity(std::string_view key, Dimension dimension) {
  return quantity(key, dimension, range_of(dimension));
}

std::optional<double> TableReader::quantity(std::string_view key, Dimension dimension,
                                            const QuantityRange& range) {
  const Value* value = take(key);
  if (value == nullptr) return std::nullopt;
  const std::string_view noun = name_of(dimension), example = example_of(dimension);
  if (const auto* text = std::get_if<std::string>(&value->data)) {
    ParsedQuantity parsed = parse_quantity(*text, dimension, range);
    if (parsed) return parsed.value;
    report(value->span, fmt::format("{}: {}", full_name(key), parsed.error), std::move(parsed.hint));
  } else if (is_number(*value) && as_number(*value) == 0) {
    // Zero is the same in every unit.
    return 0.0;
  } else if (is_number(*value)) {
    report(value->span,
           fmt::format("{} is a {} and needs its unit, as in \"{}\"", full_name(key), noun, example));
  } else {
    must_be(key, *value, fmt::format("a {} with its unit, as in \"{}\"", noun, example));
  }
  return std::nullopt;
}

std::optional<Time> TableReader::time(std::string_view key, const QuantityRange& range) {
  const auto found = quantity(key, Dimension::time, range);
  if (!found) return std::nullopt;
  return seconds(*found);
}

std::optional<Bytes> TableReader::bytes(std::string_view key) {
  const auto found = quantity(key, Dimension::bytes);
  if (!found) return std::nullopt;
  return Bytes{std::llround(*found)};
}

std::optional<Flops> TableReader::flops(std::string_view key) {
  const auto found = quantity(key, Dimension::flops);
  if (!found) return std::nullopt;
  return Flops{*found};
}

std::optional<ByteRate> TableReader::byte_rate(std::string_view key) {
  const auto found = quantity(key, Dimension::byte_rate);
  if (!found) return std::nullopt;
  return ByteRate{*found};
}

std::optional<FlopRate> TableReader::flop_rate(std::string_view key) {
  const auto found = quantity(key, Dimension::flop_rate);
  if (!found) return std::nullopt;
  return FlopRate{*found};
}

std::optional<double> TableReader::watts(std::string_view key) { return quantity(key, Dimension::power); }

std::optional<std::string> TableReader::one_of(std::string_view key,
                                               const std::vector<std::string>& choices) {
  const auto found = string(key);
  if (!found) return std::nullopt;
  // Upper and lower case, and separators, do not matter.
  if (std::string known = spelt_alike(*found, choices); !known.empty()) return known;
  report(span_of(key), fmt::format("unknown {} \"{}\"", full_name(key), found->substr(0, 60)),
         did_you_mean(*found, choices));
  return std::nullopt;
}

std::optional<std::vector<std::int64_t>> TableReader::integers(std::string_view key, std::int64_t least,
                                                               std::int64_t most, std::size_t longest) {
  const Array* values = array(key, longest);
  if (values == nullptr) return std::nullopt;
  std::vector<std::int64_t> out;
  for (const Value& value : *values) {
    if (within(value, least, most))
      out.push_back(std::get<std::int64_t>(value.data));
    else
      report(value.span, fmt::format("{} must hold {}", full_name(key), range_text("integers", least, most)));
  }
  if (out.size() != values->size()) return std::nullopt;
  return out;
}

std::optional<std::vector<std::string>> TableReader::strings(std::string_view key, std::size_t longest) {
  const Array* values = array(key, longest);
  if (values == nullptr) return std::nullopt;
  std::vector<std::string> out;
  for (const Value& value : *values) {
    const auto* text = std::get_if<std::string>(&value.data);
    if (text == nullptr)
      report(value.span, fmt::format("{} must hold strings", full_name(key)));
    else if (is_one_line(key, value))
      out.push_back(*text);
  }
  if (out.size() != values->size()) return std::nullopt;
  return out;
}

const Table* TableReader::table(std::string_view key) {
  const Value* value = take(key);
  if (value == nullptr) return nullptr;
  if (const auto* table = std::get_if<Table>(&value->data)) return table;
  must_be(key, *value, "a table");
  return nullptr;
}

const Array* TableReader::array(std::string_view key, std::size_t longest) {
  const Value* value = take(key);
  if (value == nullptr) return nullptr;
  const auto* array = std::get_if<Array>(&value->data);
  if (array == nullptr) {
    must_be(key, *value, "a list in square brackets");
    return nullptr;
  }
  if (array->size() <= longest) return array;
  report(value->span,
         fmt::format("{} has {} entries, at most {} are allowed", full_name(key), array->size(), longest));
  return nullptr;
}

/// A damaged table may have lost the key with its unreadable lines.
void TableReader::require(std::string_view key, std::string_view example) {
  if (has(key) || table_->damaged) return;
  const bool whole_line = example.find('=') != std::string_view::npos || example.starts_with('[');
  std::string hint = whole_line ? fmt::format("add {}", example) : fmt::format("add {} = {}", key, example);
  report(table_->span, fmt::format("{} is missing", full_name(key)), example.empty() ? "" : std::move(hint));
}

void TableReader::finish() {
  for (const Entry& entry : table_->entries) {
    if (std::find(asked_.begin(), asked_.end(), entry.key) != asked_.end()) continue;
    if (diagnostics_->found().size() >= Diagnostics::kMostDiagnostics) return;
    const std::string where = path_.empty() ? "" : fmt::format(" in [{}]", path_);
    report(entry.key_span, fmt::format("unknown key \"{}\"{}", entry.key.substr(0, 60), where),
           did_you_mean(entry.key, asked_));
  }
}

}  // namespace foretrain

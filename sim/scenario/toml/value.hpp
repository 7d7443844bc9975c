// A parsed TOML document as plain values that know their place in the text. The schemas read these values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

struct Value;
using Array = std::vector<Value>;

/// Declared below, because a table holds entries and an entry may hold a table.
struct Entry;

/// A TOML table in the order of the file, with places for messages.
struct Table {
  std::vector<Entry> entries;
  /// Place of the header or the opening brace; line 0 for the document itself.
  SourceSpan span{};
  /// Lines of the text were omitted as unreadable; a key that is missing may have been in one of them.
  bool damaged = false;
  /// Return the entry of a key, or nullptr. The cost is linear in the entries.
  const Entry* find(std::string_view key) const;
  Entry* find(std::string_view key);
};

/// A TOML value with its place in the file; monostate for a value that could not be read.
struct Value {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table> data;
  SourceSpan span{};
  bool is_table() const { return std::holds_alternative<Table>(data); }
};

/// A key of a table with its place and its value.
struct Entry {
  std::string key;
  SourceSpan key_span{};
  Value value;
};

/// Returns "a string", "an integer", … for messages.
std::string_view kind_of(const Value& value);

}  // namespace foretrain

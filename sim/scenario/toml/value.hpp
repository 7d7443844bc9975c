// A parsed TOML document as plain values that know their place in the text; what the schemas read.
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

/// A key with its place, and its value. Tables keep the order of the text.
struct Entry;

/// A TOML table in the order of the file, with places for messages.
struct Table {
  std::vector<Entry> entries;
  SourceSpan span{};  ///< the header or the opening brace; line 0 for the document itself
  /// Lines of the text were left out as unreadable: a key that is not there may have stood in one
  bool damaged = false;
  const Entry* find(std::string_view key) const;
  Entry* find(std::string_view key);
};

/// A TOML value with its place in the file.
struct Value {
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Table> data;
  SourceSpan span{};
  bool is_table() const { return std::holds_alternative<Table>(data); }
};

/// A key of a table with its value.
struct Entry {
  std::string key;
  SourceSpan key_span{};
  Value value;
};

/// "a string", "an integer", …: for messages.
std::string_view kind_of(const Value& value);

}  // namespace foretrain

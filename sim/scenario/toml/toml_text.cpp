// Writer of TOML. Tables below the document get headers, tables inside values braces; strings are quoted with
// escapes.
#include "sim/scenario/toml/toml_text.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Returns a basic string with escapes for quotes, backslashes and control characters.
std::string quoted_toml(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      out += fmt::format("\\{}", c);
    else if (c == '\n')
      out += "\\n";
    else if (code < 0x20 || code == 0x7F)
      out += fmt::format("\\u{:04X}", code);
    else
      out += c;
  }
  return out + "\"";
}

/// Returns a key, quoted unless it is a bare one.
std::string toml_key(const std::string& key) {
  const bool is_bare = !key.empty() && std::ranges::all_of(key, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
  });
  return is_bare ? key : quoted_toml(key);
}

/// Returns a number with a point or an exponent, so that it stays a float.
std::string toml_float(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

/// Values inside a list or braces are written on one line.
std::string inline_value(const Value& value);

std::string inline_table(const Table& table) {
  std::string out;
  for (const Entry& entry : table.entries)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", toml_key(entry.key), inline_value(entry.value));
  return out.empty() ? "{}" : "{ " + out + " }";
}

std::string inline_array(const Array& array) {
  std::string out;
  for (const Value& element : array) out += (out.empty() ? "" : ", ") + inline_value(element);
  return "[" + out + "]";
}

std::string inline_value(const Value& value) {
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<std::int64_t>(&value.data)) return fmt::format("{}", *number);
  if (const auto* real = std::get_if<double>(&value.data)) return toml_float(*real);
  if (const auto* text = std::get_if<std::string>(&value.data)) return quoted_toml(*text);
  if (const auto* array = std::get_if<Array>(&value.data)) return inline_array(*array);
  if (const auto* table = std::get_if<Table>(&value.data)) return inline_table(*table);
  // An unreadable value has no spelling.
  return "\"\"";
}

/// A header is needed only if the table has values of its own or is empty.
void append_table(const Table& table, const std::string& path, std::string& out) {
  const bool has_values =
      std::ranges::any_of(table.entries, [](const Entry& entry) { return !entry.value.is_table(); });
  if (!path.empty() && (has_values || table.entries.empty()))
    out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", path);
  for (const Entry& entry : table.entries) {
    if (!entry.value.is_table())
      out += fmt::format("{} = {}\n", toml_key(entry.key), inline_value(entry.value));
  }
  for (const Entry& entry : table.entries) {
    if (const auto* inner = std::get_if<Table>(&entry.value.data))
      append_table(*inner, path.empty() ? toml_key(entry.key) : path + "." + toml_key(entry.key), out);
  }
}

}  // namespace

std::string toml_text(const Table& document) {
  std::string out;
  append_table(document, "", out);
  return out;
}

}  // namespace foretrain

// Declares a text with gaps: "<width>" is replaced by the value that was put under that name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace foretrain {

/// Holds the values for the gaps of a template, by name. Numbers are stored as their digits; a later value
/// replaces an earlier one.
class Filling {
 public:
  Filling& put(std::string_view name, std::int64_t number) { return put(name, std::to_string(number)); }
  Filling& put(std::string_view name, std::string text) {
    values_.insert_or_assign(std::string(name), std::move(text));
    return *this;
  }
  /// Returns the text with every "<name>" filled, also inside the values. Throws std::logic_error for a name
  /// without a value, which is a fault of the template.
  std::string into(std::string_view text) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// Returns a text that can stand in quotes in TOML: letters, digits, blanks and plain punctuation stay, all
/// other bytes become '_'. At most 80 bytes.
std::string quotable(std::string_view text);
/// Returns the last part of a path in the same form.
std::string quotable_file(std::string_view path);

}  // namespace foretrain

// A text with gaps: "<width>" becomes what stands for it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace foretrain {

/// What fills the gaps of a template, by name; numbers as their digits.
class Filling {
 public:
  Filling& put(std::string_view name, std::int64_t number) { return put(name, std::to_string(number)); }
  Filling& put(std::string_view name, std::string text) {
    values_.insert_or_assign(std::string(name), std::move(text));
    return *this;
  }
  /// Every "<name>" is filled, in what is put in, too. Requires each to be known.
  std::string into(std::string_view text) const;

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// What goes into quotes of a TOML text: letters, digits and plain marks; all else becomes '_'.
std::string quotable(std::string_view text);

}  // namespace foretrain

// Reports that have one function for each format and nothing else. The first row of their table is the
// default.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// A format: the name for --format, and the function that writes the report.
template <class Subject>
struct Format {
  std::string_view name;
  std::string (*write)(const Subject& subject);
};

}  // namespace foretrain

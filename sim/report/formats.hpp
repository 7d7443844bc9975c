// Reports that have a function per format and nothing more: a row each, the first is the default.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// An output format by its name.
template <class Subject>
struct Format {
  std::string_view name;
  std::string (*write)(const Subject& subject);
};

}  // namespace foretrain

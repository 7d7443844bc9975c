// Approved texts of reports and drawings; a wanted change is approved by copying what the failing test
// prints.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include <fmt/format.h>

#include "tests/support/catch.hpp"

namespace foretrain::test {

/// The whole file of that name in tests/golden/approved.
inline std::string approved(const std::string& name) {
  const std::string path = fmt::format("{}/tests/golden/approved/{}", FORETRAIN_SOURCE_DIR, name);
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace foretrain::test

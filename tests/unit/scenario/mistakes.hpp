// What a wrong scenario or model text is answered with, for tables of mistakes.
#pragma once

#include <cstdlib>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/schema/schemas.hpp"

namespace foretrain::test {

struct Mistake {
  std::string what;
  std::string text;
  std::string message;
};

/// Catalog names in the tests mean the files of this source tree, wherever the test runs.
inline void use_source_catalogs() { setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1); }

/// The whole answer to a scenario called s.toml; empty when it is right.
inline std::string scenario_mistakes(const std::string& text, const ScenarioOverrides& overrides = {}) {
  use_source_catalogs();
  try {
    read_scenario({"s.toml", text}, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// The whole answer to a model called m.toml; empty when it is right.
inline std::string model_mistakes(const std::string& text) {
  const SourceText source{"m.toml", text};
  Diagnostics diagnostics(source);
  read_model(source, diagnostics);
  return format(diagnostics.found());
}

}  // namespace foretrain::test

// Networks of models/ as tests read them.
#pragma once

#include <fstream>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "sim/scenario/reader.hpp"
#include "sim/scenario/schemas.hpp"
#include "sim/workload/operators.hpp"

namespace foretrain::test {

/// models/NAME.toml of the source tree, expanded. Throws InputError with its mistakes.
inline ExpandedModel model_file(const std::string& name) {
  const SourceText source = read_text_file(fmt::format("{}/models/{}.toml", FORETRAIN_SOURCE_DIR, name));
  Diagnostics diagnostics(source);
  const Model model = read_model(source, diagnostics);
  diagnostics.throw_if_any();
  return expand(model).model;
}

/// Where the traced table of a network lies, when ../shared is there.
inline std::string facts_path(const std::string& name) {
  return fmt::format("{}/../shared/facts/models/{}.json", FORETRAIN_SOURCE_DIR, name);
}

inline nlohmann::json facts_of(const std::string& name) { return nlohmann::json::parse(std::ifstream(facts_path(name))); }

}  // namespace foretrain::test

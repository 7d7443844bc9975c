// Networks of models/ as tests read them.
#pragma once

#include <string>

#include <fmt/format.h>

#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain::test {

/// models/NAME.toml of the source tree, expanded. Throws InputError with its mistakes.
inline ExpandedModel model_file(const std::string& name) {
  const SourceText source = read_text_file(fmt::format("{}/models/{}.toml", FORETRAIN_SOURCE_DIR, name));
  Diagnostics diagnostics(source);
  const Model model = read_model(source, diagnostics);
  diagnostics.throw_if_any();
  return expand(model).model;
}

}  // namespace foretrain::test

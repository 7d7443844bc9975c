// A file's text as `model import` takes it, and what becomes of it.
#pragma once

#include <algorithm>
#include <string>

#include "sim/import/models/model_file.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "tests/support/catch.hpp"

namespace foretrain::test {

inline ImportedModel imported(const std::string& text, const ModelImportOptions& options = {}) {
  return import_model({"file", text}, options);
}

inline ExpandedModel expanded_text(const ImportedModel& made) {
  const SourceText source{"made.toml", made.text};
  Diagnostics diagnostics(source);
  ModelFile file = read_model_file(source, diagnostics);
  diagnostics.throw_if_any();
  return std::move(file.expanded);
}

inline ExpandedModel network_of(const std::string& text, const ModelImportOptions& options = {}) {
  return expanded_text(imported(text, options));
}

/// The mistakes of a file that is refused.
inline std::string mistakes_of(const std::string& text) {
  try {
    imported(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

inline bool remarks(const ImportedModel& made, std::string_view words) {
  return std::ranges::any_of(made.remarks,
                             [&](const std::string& one) { return one.find(words) != std::string::npos; });
}

}  // namespace foretrain::test

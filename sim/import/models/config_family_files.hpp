// Families of models/families as readers of config.json: their table [config] says which model_type they
// describe and which key of a config each of their numbers is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/logs/json_value.hpp"
#include "sim/import/models/model_file.hpp"

namespace foretrain {

/// The text of the family for this model_type; nothing when the catalog has none.
std::optional<SourceText> family_for_config(std::string_view model_type);

/// The model_types that families describe, sorted.
std::vector<std::string> config_types_of_families();

/// The family's text with the config's numbers as its defaults. Keys that neither the config nor the family
/// has are reported at once.
std::string filled_family(const SourceText& family, const LogJson& config, const ModelImportOptions& options,
                          std::vector<std::string>& remarks, Diagnostics& diagnostics);

/// The text of the family that a size of the catalog is of, with that size's numbers and images of `side`
/// pixels; nothing where it is of no family, or of one whose images have one size.
std::optional<std::string> family_of_side(const std::string& name, std::int64_t side);

}  // namespace foretrain

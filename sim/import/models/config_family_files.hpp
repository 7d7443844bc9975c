// Declares how files of models/families read a config.json: their table [config] says which model_type they
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

/// Returns the text of the family for this model_type, or nothing when the catalog has none. Reads the files
/// of the catalog until one fits.
std::optional<SourceText> family_for_config(std::string_view model_type);

/// Returns the model_types that families describe, sorted and without repetitions.
std::vector<std::string> config_types_of_families();

/// Returns the family's text with the config's numbers as its defaults. Reports numbers out of range, and at
/// once all keys that neither the config nor the family has.
std::string filled_family(const SourceText& family, const LogJson& config, const ModelImportOptions& options,
                          std::vector<std::string>& remarks, Diagnostics& diagnostics);

/// Returns the text of the family that a size of the catalog belongs to, with that size's numbers and images
/// of `side` pixels. Nothing where the name is no size of a family, or the family's images have a fixed size.
std::optional<std::string> family_of_side(const std::string& name, std::int64_t side);

}  // namespace foretrain

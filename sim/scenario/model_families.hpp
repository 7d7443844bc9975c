// Families of models: files of models/families that describe one network in several sizes, each with a name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace foretrain {

/// One table [sizes.NAME] of a file.
struct FamilySize {
  std::string path, name;
  std::vector<std::string> also;  ///< the names that libraries have for it
};

/// The files of families below the catalogs' folders, sorted within each.
std::vector<std::string> family_files(const std::vector<std::string>& roots);

/// All sizes below the catalogs' folders, in the order of roots, files and lines. A file that cannot be read
/// has none.
std::vector<FamilySize> family_sizes(const std::vector<std::string>& roots);

/// Of names as the Hugging Face hub and libraries have them, the one without organisation ("meta-llama/…")
/// and without endings that leave the network as it is (-instruct, -hf, -v0.1), in small letters; then what
/// models/names.csv says it is, if it has it.
std::string plain_model_name(const std::vector<std::string>& roots, std::string_view name);

/// The first size with that name, or with that name among `also`.
std::optional<FamilySize> find_family_size(const std::vector<std::string>& roots, std::string_view name);

}  // namespace foretrain

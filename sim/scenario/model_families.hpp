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
  /// Names that libraries have for it.
  std::vector<std::string> also;
};

/// Returns the files of families below the catalogs' folders, sorted within each.
std::vector<std::string> family_files(const std::vector<std::string>& roots);

/// Returns all sizes below the catalogs' folders, in the order of roots, files and lines. A file that cannot
/// be read has none.
std::vector<FamilySize> family_sizes(const std::vector<std::string>& roots);

/// Returns the plain form of a name of the Hugging Face hub or a library: without organisation
/// ("meta-llama/…"), without endings that do not change the network (-instruct, -hf, -v0.1), in small
/// letters. If models/names.csv has the result, its entry is returned.
std::string plain_model_name(const std::vector<std::string>& roots, std::string_view name);

/// Returns the first size with that name, or with that name among `also`.
std::optional<FamilySize> find_family_size(const std::vector<std::string>& roots, std::string_view name);

}  // namespace foretrain

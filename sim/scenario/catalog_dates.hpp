// Dates of catalogs, and the folder of newer ones.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// File with the date at which catalogs were made, as 2026-11-28. Every root has it except a source tree.
inline constexpr std::string_view kCatalogsDateFile = "catalogs_date.txt";
/// Returns the date of the first of catalog_roots(); empty: a source tree, or no catalogs.
std::string catalogs_date();

/// Returns the folder of `update-catalogs`; empty if there is none because neither XDG_DATA_HOME nor HOME is
/// set.
std::string updated_catalogs_folder();

}  // namespace foretrain

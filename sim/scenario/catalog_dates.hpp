// When catalogs were made, and where newer ones are put.
#pragma once

#include <string>
#include <string_view>

namespace foretrain {

/// In every folder of catalogs but a source tree: the day they were made, as 2026-11-28.
inline constexpr std::string_view kCatalogsDateFile = "catalogs_date.txt";
/// That of the first of catalog_roots(); empty: a source tree, or no catalogs.
std::string catalogs_date();

/// Where `update-catalogs` puts them; empty: there is no place (neither XDG_DATA_HOME nor HOME is set).
std::string updated_catalogs_folder();

}  // namespace foretrain

// Access to the catalogs: models, clusters, GPUs, links, scenarios, data sets, calibrations, each a folder of
// TOML files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// The kinds of entry that a catalog holds. Each kind has its folder below the roots.
enum class CatalogKind {
  models,
  clusters,
  gpus,
  links,
  scenarios,
  nodes,
  transports,
  datasets,
  calibrations
};

/// Returns "model", "cluster", … for messages.
std::string_view noun_of(CatalogKind kind);

/// Returns the folders that hold catalogs; the first match wins. Order: $FORETRAIN_PATH (separated by ':');
/// newer ones of `update-catalogs` (catalog_dates.hpp); then the source tree above the program or shared
/// library, PREFIX/share/foretrain beside it, or the catalogs in the program.
std::vector<std::string> catalog_roots();

/// Returns the folders of the catalogs below the roots, and no other folder that is there.
std::vector<std::string> catalog_folders();

/// Returns the name of the thing that a file describes: the file's name without folder and ending, as
/// printable().
std::string name_of_file(const std::string& path);

/// Returns the names in a catalog (file names without ".toml", and the sizes of families of models), sorted,
/// each once.
std::vector<std::string> names_in(CatalogKind kind);

/// Returns the text of a catalog entry, or of a file when `name` has a slash or ends in ".toml" (relative to
/// the working folder). Returns nullopt when there is no such entry. Throws InputError for a file that is
/// missing, empty or too large.
std::optional<SourceText> open_named(CatalogKind kind, const std::string& name);

/// Returns the name for open_named() of a name that is written at `span` of a text. A relative path in a file
/// is relative to that file's folder, one of the command line to the working folder.
std::string name_from(const SourceText& text, SourceSpan span, const std::string& name);

/// Opens the entry of a name that is written at `span` of a text. Unknown names and unreadable files are
/// reported there instead of thrown.
std::optional<SourceText> find_named(CatalogKind kind, const std::string& name, SourceSpan span,
                                     Diagnostics& diagnostics);

/// Returns the name in the catalog of a model that is called `name`: the same name, one spelt alike, a
/// library's name, or a file of that name ("yolov5s.pt"). Returns an empty string when there is none.
std::string model_named(const std::string& name);

/// Returns a hint for an unknown name: the nearest ones, or the whole list. If there are no catalogs, it
/// names the folders that were searched.
std::string unknown_name_hint(CatalogKind kind, std::string_view name);

}  // namespace foretrain

// Where the catalogs lie and what is in them: models, clusters, GPUs, links, scenarios, data sets,
// calibrations, each a folder of TOML files.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"

namespace foretrain {

/// The kinds of file that a catalog holds. Each kind has its folder in the search path.
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

/// "model", "cluster", …: for messages.
std::string_view noun_of(CatalogKind kind);

/// First match wins: $FORETRAIN_PATH (with ':'), newer ones of `update-catalogs` (catalog_dates.hpp), then
/// the source tree above program or shared library, PREFIX/share/foretrain beside it, or what is in the
/// program.
std::vector<std::string> catalog_roots();

/// Below them the folders of the catalogs, and nothing else that lies there.
std::vector<std::string> catalog_folders();

/// The name of what a file describes: the file's, without folder and ending, as printable().
std::string name_of_file(const std::string& path);

/// Names in a catalog (file names without ".toml", and the sizes of families of models), sorted, each once.
std::vector<std::string> names_in(CatalogKind kind);

/// The text of a catalog entry, or of a file when `name` has a slash or ends in ".toml" (relative to the
/// working folder). nullopt when there is no such entry. Throws InputError for a file that is missing, empty
/// or too large.
std::optional<SourceText> open_named(CatalogKind kind, const std::string& name);

/// What open_named() takes for a name that stands at `span` of a text: a relative path in a file is relative
/// to that file's folder, one of the command line to the working folder.
std::string name_from(const SourceText& text, SourceSpan span, const std::string& name);

/// The same for a name that stands at `span` of a text: unknown names and unreadable files are reported there
/// instead of thrown.
std::optional<SourceText> find_named(CatalogKind kind, const std::string& name, SourceSpan span,
                                     Diagnostics& diagnostics);

/// The model of the catalog that a program is told as `name`: by its name, one spelt alike, a library's, or a
/// file of that name ("yolov5s.pt"). Empty when there is none.
std::string model_named(const std::string& name);

/// A hint for an unknown name: the nearest ones, or the whole list; tells where catalogs were looked for when
/// there are none.
std::string unknown_name_hint(CatalogKind kind, std::string_view name);

}  // namespace foretrain

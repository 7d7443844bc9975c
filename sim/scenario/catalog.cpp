// Catalogs are folders below a few roots. A name is looked up root by root, so that a user's folder can
// shadow the program's.
#include "sim/scenario/catalog.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/ascii.hpp"
#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/scenario/catalog_dates.hpp"
#include "sim/scenario/gpu_names.hpp"
#include "sim/scenario/model_families.hpp"
#include "sim/scenario/toml/packed_files.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

/// Longest name of an entry, in bytes; longer texts are not looked up.
constexpr std::size_t kLongestCatalogName = 128;

/// Returns the folder of a kind below a root.
std::string_view folder_of(CatalogKind kind) {
  static constexpr std::array<std::string_view, 9> kFolders{"models",
                                                            "topologies",
                                                            "topologies/gpus",
                                                            "topologies/links",
                                                            "scenarios",
                                                            "topologies/nodes",
                                                            "topologies/transports",
                                                            "datasets",
                                                            "topologies/calibrations"};
  return kFolders[static_cast<std::size_t>(kind)];
}

/// Recorded models are larger than other files.
std::size_t largest_text(CatalogKind kind) {
  return kind == CatalogKind::models ? kLargestModelText : kLargestText;
}

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

/// Returns whether a folder is a root of catalogs.
bool holds_catalogs(const fs::path& folder) {
  return is_folder(folder / "models") && is_folder(folder / "topologies");
}

/// Adds the folders of FORETRAIN_PATH.
void add_user_roots(std::vector<std::string>& roots) {
  const char* variable = std::getenv("FORETRAIN_PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    if (end > 0) roots.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

/// Returns the file that this code was loaded from: the shared library, or the program. Empty if neither is
/// known.
fs::path file_of_this_code() {
  std::error_code problem;
#ifndef __EMSCRIPTEN__
  Dl_info loaded{};
  const bool is_known = ::dladdr(reinterpret_cast<const void*>(&file_of_this_code), &loaded) != 0;
  const char* file = is_known && loaded.dli_fname != nullptr ? loaded.dli_fname : "";
  if (std::string_view(file).find(".so") != std::string_view::npos) return fs::canonical(file, problem);
#endif
  return fs::read_symlink("/proc/self/exe", problem);
}

/// Adds the nearest folder above the binary that holds catalogs, and PREFIX/share/foretrain.
void add_roots_near_binary(std::vector<std::string>& roots) {
  const fs::path binary = file_of_this_code();
  if (binary.empty()) return;
  for (fs::path folder = binary.parent_path(); folder.has_relative_path(); folder = folder.parent_path()) {
    if (!holds_catalogs(folder)) continue;
    roots.push_back(folder.string());
    break;
  }
  const fs::path installed = binary.parent_path().parent_path() / "share" / "foretrain";
  if (holds_catalogs(installed)) roots.push_back(installed.string());
}

void add_names(const fs::path& folder, std::vector<std::string>& names) {
  for (const std::string& file : files_in(folder.string(), ".toml"))
    names.push_back(fs::path(file).stem().string());
}

/// Returns the date at which catalogs were made, such as "2026-11-28"; empty if no file states it, as in a
/// source tree. The file is read in spite of GivenFiles, because its path is not part of any question.
std::string date_in(const std::string& root) {
  const std::string file = root + "/" + std::string(kCatalogsDateFile);
  if (const auto packed = packed_file(file)) return std::string(packed->substr(0, packed->find('\n')));
  constexpr std::string_view kForm = "2026-11-28";
  std::string day(kForm.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(day.data(), static_cast<std::streamsize>(day.size()));
  return static_cast<std::size_t>(stream.gcount()) == day.size() ? day : "";
}

/// Adds the catalogs of `update-catalogs` before those that came with the program, if they are newer.
void add_updated_root(std::vector<std::string>& roots, std::size_t at) {
  const std::string updated = updated_catalogs_folder();
  if (updated.empty() || at == roots.size() || !holds_catalogs(updated)) return;
  const std::string own = date_in(roots[at]);
  if (!own.empty() && own < date_in(updated))
    roots.insert(roots.begin() + static_cast<std::ptrdiff_t>(at), updated);
}

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".toml");
}

std::optional<std::string> file_named(CatalogKind kind, const std::string& name) {
  for (const std::string& root : catalog_roots()) {
    const std::string path = (fs::path(root) / folder_of(kind) / (name + ".toml")).string();
    if (is_file_there(path)) return path;
  }
  return std::nullopt;
}

/// A file, and the part of it that describes the thing.
struct FilePlace {
  std::string path, part;
};

/// Returns the place of a size of a family, by one of its names.
std::optional<FilePlace> size_named(CatalogKind kind, const std::string& name) {
  if (kind != CatalogKind::models) return std::nullopt;
  const std::optional<FamilySize> found = find_family_size(catalog_roots(), name);
  return found ? std::optional(FilePlace{found->path, found->name}) : std::nullopt;
}

std::optional<FilePlace> entry_named(CatalogKind kind, const std::string& name) {
  if (auto exact = file_named(kind, name)) return FilePlace{*exact, ""};
  return size_named(kind, name);
}

/// Returns the place of a name, nullopt for a name that is in no catalog. A path is taken as it is. Other
/// names are looked up exactly, then by the rules of GPUs or models, or by a similar spelling.
std::optional<FilePlace> place_of(CatalogKind kind, const std::string& name) {
  if (name.empty() || name.find('\0') != std::string::npos) return std::nullopt;
  if (is_path(name)) {
    const bool is_there = name.ends_with(".toml") || is_readable_file(name) || kind != CatalogKind::models;
    const std::string model = is_there ? "" : model_named(name);
    return model.empty() ? FilePlace{name, ""} : entry_named(kind, model);
  }
  if (name.size() > kLongestCatalogName || name.starts_with('.')) return std::nullopt;
  if (auto exact = entry_named(kind, name)) return exact;
  if (kind == CatalogKind::gpus) {
    const std::vector<std::string> readings = gpus_named(name, names_in(kind));
    return readings.size() == 1 ? entry_named(kind, readings.front()) : std::nullopt;
  }
  const std::string alike =
      kind == CatalogKind::models ? model_named(name) : spelt_alike(name, names_in(kind));
  return alike.empty() ? std::nullopt : entry_named(kind, alike);
}

SourceText text_at(CatalogKind kind, const FilePlace& place) {
  SourceText text = read_text_file(place.path, largest_text(kind));
  text.part = place.part;
  return text;
}

/// Returns how to list a catalog that people choose from, and how to add an entry of their own.
std::string_view how_to_list(CatalogKind kind) {
  if (kind == CatalogKind::models)
    return "foretrain list models; your own: a file (docs/models/networks.md), as in ./mine.toml";
  if (kind == CatalogKind::clusters)
    return "foretrain list clusters; your own: a file (CONTRIBUTING.md, Recipes), as in ./mine.toml";
  if (kind == CatalogKind::scenarios)
    return "foretrain list scenarios; your own: a file (docs/reference/scenario.md), as in mine.toml";
  return "";
}

/// Returns a hint for a machine that is in no catalog: machines with the same GPU, by the part of the name
/// with a number ("a100" of "mylab-a100"). Empty for a name that is only misspelt, or has no such part.
std::string machines_like(std::string_view name, const std::vector<std::string>& names) {
  constexpr std::size_t kShortestPart = 3, kMostNames = 6;
  if (did_you_mean(name, names).starts_with("did you mean")) return "";
  std::vector<std::string> alike;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find_first_of("-_.", begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    begin = end + 1;
    const bool has_digit = part.find_first_of("0123456789") != std::string_view::npos;
    if (!has_digit || part.size() < kShortestPart) continue;
    for (const std::string& known : names) {
      const bool is_new = std::ranges::find(alike, known) == alike.end();
      if (is_new && known.find(part) != std::string::npos && alike.size() < kMostNames)
        alike.push_back(known);
    }
  }
  if (alike.empty()) return "";
  return fmt::format(
      "no such machine is in the catalog; with such GPUs there are {}; yours: foretrain topology new",
      fmt::join(alike, ", "));
}

/// Appends how to list the catalog. After "did you mean …?" it is a sentence of its own.
std::string with_listing(const std::string& hint, CatalogKind kind) {
  const std::string_view how = how_to_list(kind);
  return how.empty() ? hint : fmt::format("{}{}{}", hint, hint.ends_with('?') ? " All: " : "; all: ", how);
}

}  // namespace

std::string_view noun_of(CatalogKind kind) {
  static constexpr std::array<std::string_view, 9> kNouns{
      "model", "cluster", "GPU", "link", "scenario", "node", "transport", "data set", "calibration"};
  return kNouns[static_cast<std::size_t>(kind)];
}

std::string updated_catalogs_folder() {
  const char *data = std::getenv("XDG_DATA_HOME"), *home = std::getenv("HOME");
  if (data != nullptr && *data != '\0') return std::string(data) + "/foretrain/catalogs";
  return home != nullptr && *home != '\0' ? std::string(home) + "/.local/share/foretrain/catalogs" : "";
}

std::string catalogs_date() {
  const std::vector<std::string> roots = catalog_roots();
  return roots.empty() ? "" : date_in(roots.front());
}

std::vector<std::string> catalog_roots() {
  std::vector<std::string> roots;
  add_user_roots(roots);
  const std::size_t of_user = roots.size();
  add_roots_near_binary(roots);
  // Catalogs in the program are used only where no others are found.
  const bool is_alone = roots.size() == of_user;
  if (is_alone && !packed_catalogs().empty()) roots.emplace_back(kPackedFolder);
  add_updated_root(roots, of_user);
  return roots;
}

std::vector<std::string> catalog_folders() {
  std::vector<std::string> folders;
  for (const std::string& root : catalog_roots()) {
    // The other kinds are below the clusters' folder.
    for (const CatalogKind kind :  // the others lie below the clusters
         {CatalogKind::models, CatalogKind::clusters, CatalogKind::scenarios, CatalogKind::datasets})
      folders.push_back((fs::path(root) / folder_of(kind)).string());
    folders.push_back((fs::path(root) / "evidence").string());
  }
  return folders;
}

std::string name_of_file(const std::string& path) { return printable(fs::path(path).stem().string()); }

std::vector<std::string> names_in(CatalogKind kind) {
  std::vector<std::string> names;
  for (const std::string& root : catalog_roots()) add_names(fs::path(root) / folder_of(kind), names);
  if (kind == CatalogKind::models) {
    for (const FamilySize& size : family_sizes(catalog_roots())) names.push_back(size.name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::optional<SourceText> open_named(CatalogKind kind, const std::string& name) {
  const auto place = place_of(kind, name);
  if (!place) return std::nullopt;
  return text_at(kind, *place);
}

std::string name_from(const SourceText& text, SourceSpan span, const std::string& name) {
  if (!is_path(name) || name.find('\0') != std::string::npos || span.line > text.file_lines) return name;
  const fs::path path(name), folder = fs::path(text.name).parent_path();
  return path.is_absolute() || folder.empty() ? name : (folder / path).lexically_normal().string();
}

std::optional<SourceText> find_named(CatalogKind kind, const std::string& name, SourceSpan span,
                                     Diagnostics& diagnostics) {
  const auto place = place_of(kind, name_from(diagnostics.source(), span, name));
  if (!place) {
    diagnostics.report(span, fmt::format("unknown {} \"{}\"", noun_of(kind), name.substr(0, 60)),
                       unknown_name_hint(kind, name));
    return std::nullopt;
  }
  if (const std::string refusal = text_file_refusal(place->path, largest_text(kind)); !refusal.empty()) {
    diagnostics.report(span, fmt::format("{} {}", shortened(place->path), refusal));
    return std::nullopt;
  }
  return text_at(kind, *place);
}

std::string model_named(const std::string& name) {
  if (name.size() > kLongestCatalogName || name.find('\0') != std::string::npos) return "";
  const std::vector<std::string> known = names_in(CatalogKind::models);
  for (const std::string& wanted : {name, plain_model_name(catalog_roots(), name)}) {
    if (const auto size = size_named(CatalogKind::models, wanted)) return size->part;
    if (const std::string alike = spelt_alike(wanted, known); !alike.empty()) return alike;
  }
  for (const std::string_view ending : {".pt", ".yaml"})
    if (name.ends_with(ending)) return model_named(name.substr(0, name.size() - ending.size()));
  return "";
}

std::string unknown_name_hint(CatalogKind kind, std::string_view name) {
  const std::vector<std::string> names = names_in(kind);
  if (const std::string alike = kind == CatalogKind::clusters ? machines_like(name, names) : "";
      !alike.empty())
    return with_listing(alike, kind);
  const bool is_gpu = kind == CatalogKind::gpus;
  const std::string asked =
      is_gpu ? fmt::format("{}", fmt::join(product_words(name), "-")) : std::string(name);
  if (!names.empty()) return with_listing(did_you_mean(asked, names), kind);
  std::string places;
  for (const std::string& root : catalog_roots())
    places += fmt::format("{}{}/{}", places.empty() ? "" : ", ", root, folder_of(kind));
  if (places.empty())
    return "no catalogs were found; set FORETRAIN_PATH to the folder that holds models/ and topologies/";
  return fmt::format("there is none in {}", places);
}

}  // namespace foretrain

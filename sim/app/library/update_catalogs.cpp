// The command update-catalogs: unpacks newer catalogs from an archive into the user's own folder. They are
// replaced completely or not at all: files go to a new folder first, which is then renamed.
//
// `foretrain update-catalogs FILE` prints how many files are in which folder. A broken archive, or one that
// is not newer, ends it with exit code 1 and changes nothing.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/app/commands.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/import/accounting/gzip.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/catalog_dates.hpp"
#include "sim/scenario/toml/packed_files.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

namespace fs = std::filesystem;

// Limits of the archive, unpacked bytes and files. The catalogs have about 3 MB in 400 files.
constexpr std::size_t kLargestArchive = std::size_t{64} << 20, kMostFiles = 10'000;
// Folders that an archive of catalogs may contain; a file elsewhere refuses the archive.
constexpr std::array<std::string_view, 6> kFolders{"models/",   "topologies/", "scenarios/",
                                                   "datasets/", "evidence/",   "measured/"};
constexpr const char* kWhatIsOne = "give foretrain-catalogs-DATE.tar.gz, as `make catalogs` packs it";

/// Throws InputError about the archive, with a hint on how to get a right one.
[[noreturn]] void refuse(const std::string& file, std::string why) {
  throw InputError(std::vector<Diagnostic>{{file, {}, "", std::move(why), kWhatIsOne}});
}

/// Returns true for a date YYYY-MM-DD that exists and is at most tomorrow, as time zones may be a day ahead.
bool is_day(std::string_view text) {
  constexpr std::string_view kForm = "dddd-dd-dd";
  const bool has_form = text.size() == kForm.size() && std::ranges::equal(text, kForm, [](char c, char form) {
                          return form == 'd' ? c >= '0' && c <= '9' : c == form;
                        });
  if (!has_form) return false;
  const auto number = [&](std::size_t at, std::size_t size) {
    return std::stoi(std::string(text.substr(at, size)));
  };
  const std::chrono::year_month_day day{std::chrono::year(number(0, 4)),
                                        std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                        std::chrono::day(static_cast<unsigned>(number(8, 2)))};
  const auto tomorrow =
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()) + std::chrono::days(1);
  return day.ok() && std::chrono::sys_days(day) <= tomorrow;
}

/// Returns true for the date file and for .toml and .csv files of the catalogs' folders.
bool is_of_catalogs(const TarEntry& entry) {
  if (entry.name == kCatalogsDateFile) return true;
  const bool is_text = entry.name.ends_with(".toml") || entry.name.ends_with(".csv");
  return is_text && std::ranges::any_of(
                        kFolders, [&](std::string_view folder) { return entry.name.starts_with(folder); });
}

/// An unpacked archive: its files, and the date that one of them states. `entries` refer to `archive`.
struct NewCatalogs {
  std::string archive;
  std::vector<TarEntry> entries;
  std::string date;
};

/// Reads and checks the whole archive, which may be compressed with gzip. Throws InputError.
NewCatalogs read_catalogs(const std::string& file) {
  const SourceText packed = read_text_file(file, kLargestArchive);
  NewCatalogs out;
  auto unpacked =
      packed.text.starts_with("\x1f\x8b") ? unpacked_gzip(packed.text, kLargestArchive) : packed.text;
  if (!unpacked) refuse(file, fmt::format("is broken, or holds more than {} MiB", kLargestArchive >> 20));
  out.archive = std::move(*unpacked);
  auto entries = read_tar(out.archive, kMostFiles);
  if (!entries) refuse(file, "is no complete tar archive with relative file names");
  out.entries = std::move(*entries);
  for (const TarEntry& entry : out.entries) {
    if (!is_of_catalogs(entry))
      refuse(file, fmt::format("holds \"{}\", which is no catalog", shortened(printable(entry.name))));
    if (entry.name == kCatalogsDateFile) out.date = entry.text.substr(0, entry.text.find('\n'));
  }
  if (!is_day(out.date))
    refuse(file, fmt::format("does not say in {} from which day it is", kCatalogsDateFile));
  return out;
}

/// Writes the files below `folder` and creates the folders that they need.
void write_below(const fs::path& folder, const std::vector<TarEntry>& entries) {
  for (const TarEntry& entry : entries) {
    const fs::path path = folder / entry.name;
    fs::create_directories(path.parent_path());
    write_whole_file(path.string(), entry.text);
  }
}

/// Replaces `folder` by `made`. When the second rename fails, the old folder is put back.
void put_in_place(const fs::path& made, const fs::path& folder) {
  const fs::path before = folder.string() + fmt::format(".before-{}", ::getpid());
  const bool was_there = fs::exists(folder);
  if (was_there) fs::rename(folder, before);
  std::error_code problem;
  fs::rename(made, folder, problem);
  if (problem && was_there) fs::rename(before, folder);
  if (problem) throw fs::filesystem_error("rename", made, folder, problem);
  if (was_there) fs::remove_all(before);
}

}  // namespace

// Older or equal catalogs are refused, so that a repeated or wrong download changes nothing.
void run_update_catalogs(const std::string& file) {
  const NewCatalogs catalogs = read_catalogs(file);
  const std::string folder = updated_catalogs_folder();
  if (folder.empty())
    throw InputError("there is no place for catalogs of your own: neither HOME nor XDG_DATA_HOME is set",
                     "set XDG_DATA_HOME to a folder of yours");
  const std::string own = catalogs_date();
  if (!own.empty() && catalogs.date <= own)
    throw InputError(fmt::format("{} is from {}; the catalogs in use are from {}, and not older",
                                 shortened(printable(file)), catalogs.date, own),
                     "nothing was changed");
  const fs::path made = folder + fmt::format(".new-{}", ::getpid());
  try {
    write_below(made, catalogs.entries);
    put_in_place(made, folder);
  } catch (const std::exception& error) {
    std::error_code ignored;
    fs::remove_all(made, ignored);
    const auto* system = dynamic_cast<const fs::filesystem_error*>(&error);
    if (system == nullptr) throw;
    throw EnvironmentError(fmt::format("{}: {}", folder, system->code().message()));
  }
  write_output("",
               fmt::format("{} files of {} are in {}.\n", catalogs.entries.size(), catalogs.date, folder));
}

}  // namespace foretrain

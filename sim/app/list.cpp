// list: what the catalogs hold, one line each.
#include <algorithm>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/pages/listing.hpp"
#include "sim/report/output_file.hpp"

namespace foretrain {

namespace {

void print_names(const std::string& what) {
  std::string out;
  for (const std::string& name : list_names(what)) out += name + "\n";
  write_output("", out);
}

std::string_view how_to_make(std::string_view what) {
  return what == "calibrations"
             ? " foretrain calibrate fit makes one of measurements: docs/tutorials/calibrate.md"
             : "";
}

}  // namespace

void run_list(const ListCommand& command) {
  if (command.only_names) return print_names(command.what);
  const std::vector<ListedEntry> entries = list_entries(command.what);
  std::size_t width = 0;
  for (const ListedEntry& entry : entries) width = std::max(width, entry.name.size());
  std::string out;
  for (const ListedEntry& entry : entries)
    out += fmt::format("{:<{}}  {}\n", entry.name, width, entry.summary);
  if (entries.empty()) out = fmt::format("There are no {}.{}\n", command.what, how_to_make(command.what));
  write_output("", out);
}

}  // namespace foretrain

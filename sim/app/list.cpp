// The command list: prints what the catalogs hold, one entry on a line with its name and description.
//
// `foretrain list clusters` prints name and summary; --names prints names alone, for completion in shells.
#include <algorithm>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/app/commands.hpp"
#include "sim/app/pages/listing.hpp"
#include "sim/base/ascii.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/terminal.hpp"
#include "sim/report/output_file.hpp"

namespace foretrain {

namespace {

/// Prints names alone, without reading the files behind them; completion in shells uses this.
void print_names(const std::string& what) {
  std::string out;
  for (const std::string& name : list_names(what)) out += name + "\n";
  write_output("", out);
}

/// Returns how a user makes entries of a kind that can be empty.
std::string_view how_to_make(std::string_view what) {
  return what == "calibrations"
             ? " foretrain calibrate fit makes one of measurements: docs/tutorials/calibrate.md"
             : "";
}

/// Returns true when name or summary contain the word, regardless of case.
bool has_word(const ListedEntry& entry, const std::string& word) {
  const std::string wanted = lower_case(word);
  return lower_case(entry.name).find(wanted) != std::string::npos ||
         lower_case(entry.summary).find(wanted) != std::string::npos;
}

/// Returns one line, cut at the width of the terminal; `columns` 0 means no limit, as for a file.
std::string line_of(const ListedEntry& entry, std::size_t width, std::size_t columns) {
  const std::string line = fmt::format("{:<{}}  {}", entry.name, width, entry.summary);
  return columns == 0 || line.size() <= columns ? line : line.substr(0, columns - 3) + "...";
}

}  // namespace

// A catalog without entries is no error; a WORD that no entry has is wrong input (exit code 1).
void run_list(const ListCommand& command) {
  if (command.only_names) return print_names(command.what);
  std::vector<ListedEntry> entries = list_entries(command.what);
  if (entries.empty())
    return write_output("", fmt::format("There are no {}.{}\n", command.what, how_to_make(command.what)));
  std::erase_if(entries, [&](const ListedEntry& entry) { return !has_word(entry, command.word); });
  if (entries.empty())
    throw InputError(fmt::format("no {} have \"{}\" in name or description", command.what, command.word),
                     fmt::format("foretrain list {} shows all", command.what));
  std::size_t width = 0;
  for (const ListedEntry& entry : entries) width = std::max(width, entry.name.size());
  const std::size_t columns = prose_width(STDOUT_FILENO);
  std::string out;
  for (const ListedEntry& entry : entries) out += line_of(entry, width, columns) + "\n";
  write_output("", out);
}

}  // namespace foretrain

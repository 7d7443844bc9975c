// The commands evidence remove and evidence undo. Rows leave a store by the names of their series, and can be
// restored.
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/evidence/evidence_stores.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/shell_word.hpp"
#include "sim/report/evidence/evidence_report.hpp"
#include "sim/report/output_file.hpp"

namespace foretrain {

namespace {

// Largest number of series that are listed; the others are only counted.
constexpr std::size_t kShownRuns = 20;

/// Returns a line such as "  monday: 1 step, 3 ratio" for each series, in order of their names.
std::string runs_text(const std::vector<Observation>& rows) {
  std::map<std::string, std::array<int, kObservedNames.size()>> counts;
  for (const Observation& row : rows) ++counts[printable(row.run)][static_cast<std::size_t>(row.what)];
  std::string out;
  std::size_t shown = 0;
  for (const auto& [run, kinds] : counts) {
    if (++shown > kShownRuns) break;
    std::string parts;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind)
      if (kinds[kind] > 0)
        parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", kinds[kind], kObservedNames[kind]);
    out += fmt::format("  {}: {}\n", run, parts);
  }
  if (counts.size() > kShownRuns) out += fmt::format("  and {} more series\n", counts.size() - kShownRuns);
  return out;
}

/// Returns the given names in the form of printable(), in which a store keeps them.
std::set<std::string> names_of(const EvidenceCommand& command) {
  std::set<std::string> out;
  for (const std::string& run : command.runs) out.insert(printable(run));
  return out;
}

/// Throws InputError when one of the names is unknown, so that nothing is removed by a mistyped command.
void check_names(const EvidenceCommand& command, const std::vector<Observation>& rows) {
  std::set<std::string> known;
  for (const Observation& row : rows) known.insert(row.run);
  const std::string store = printable(named_store(command.store));
  for (const std::string& run : command.runs) {
    if (known.contains(printable(run))) continue;
    const std::vector<std::string> near =
        nearest_names(printable(run), std::vector<std::string>(known.begin(), known.end()));
    throw InputError(
        fmt::format("no series of {} is called {}", store, printable(shortened(run, 60))),
        near.empty()
            ? "`foretrain evidence show` lists rows; --matching TEXT takes out those with a text in a name"
            : did_you_mean(printable(run), near));
  }
  const auto matches = [&](const Observation& row) { return has_word(row, command.matching); };
  if (!command.matching.empty() && std::ranges::none_of(rows, matches))
    throw InputError(
        fmt::format("no row of {} has \"{}\" in a name", store, printable(shortened(command.matching, 60))),
        "`foretrain evidence list` says what is there");
}

/// Returns the command line that restores the removed rows, with the same store.
std::string undo_command(const EvidenceCommand& command) {
  const std::string store = command.store.empty() ? "" : " --store " + shell_word(command.store);
  return "foretrain evidence undo" + store;
}

}  // namespace

// The dry run lists rows from an unlocked store; the removal itself checks the names again under the lock.
void run_evidence_remove(const EvidenceCommand& command) {
  const std::string store = named_store(command.store);
  const std::set<std::string> names = names_of(command);
  // A row leaves by one of three reasons; the parser admits only one of them in a command.
  const auto is_gone = [&](const Observation& row) {
    return command.all || names.contains(row.run) ||
           (!command.matching.empty() && has_word(row, command.matching));
  };
  if (command.dry_run) {
    std::vector<Observation> rows = read_store(store).rows;
    check_names(command, rows);
    std::erase_if(rows, [&](const Observation& row) { return !is_gone(row); });
    write_output(
        "", fmt::format("{} would be removed from {}:\n{}", counted(static_cast<int>(rows.size()), "row"),
                        printable(store), runs_text(rows)));
    return;
  }
  // Names are checked under the lock, because another process may have changed the store meanwhile.
  const std::vector<Observation> removed = remove_from_store(
      store, [&](const std::vector<Observation>& rows) { check_names(command, rows); }, is_gone);
  std::string text =
      fmt::format("{} removed from {}", counted(static_cast<int>(removed.size()), "row"), printable(store));
  if (!removed.empty())
    text += fmt::format(":\n{}`{}` puts them back.", runs_text(removed), printable(undo_command(command)));
  write_output("", text + "\n");
}

// Prints which rows were put back. Repeated calls undo earlier removals one by one.
void run_evidence_undo(const EvidenceCommand& command) {
  const std::string store = named_store(command.store);
  const std::vector<Observation> rows = restore_removed(store);
  write_output("", fmt::format("{} put back into {}:\n{}", counted(static_cast<int>(rows.size()), "row"),
                               printable(store), runs_text(rows)));
}

}  // namespace foretrain

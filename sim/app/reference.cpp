// reference: pages that only the program can keep true.
#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/listing.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/scenario_keys.hpp"

namespace foretrain {

namespace {

std::string printed_by(std::string_view topic) { return fmt::format("\n\nPrinted by `foretrain reference {}`.\n", topic); }

/// A cell must not end its column.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

std::string scenario_page() {
  std::string out = "# Keys of a scenario" + printed_by("scenario") +
                    "\nA quantity is a string with its unit. Unknown keys are errors. `--set KEY=VALUE` takes every key by its full "
                    "name.\n\n| key | kind | default | meaning |\n|---|---|---|---|\n";
  for (const ScenarioKey& key : scenario_keys()) {
    const std::string of = key.strategies.empty() ? "" : fmt::format("{}: ", fmt::join(key.strategies, ", "));
    out += fmt::format("| `{}` | {} | {} | {}{} |\n", key.name, cell(key.kind), cell(key.fallback), of, cell(key.meaning));
  }
  return out;
}

std::string catalogs_page() {
  std::string out = "# Catalogs" + printed_by("catalogs");
  for (const std::string& what : listable()) {
    out += fmt::format("\n## {}\n\n| name | |\n|---|---|\n", what);
    for (const ListedEntry& entry : list_entries(what)) out += fmt::format("| `{}` | {} |\n", entry.name, cell(entry.summary));
  }
  return out;
}

}  // namespace

const std::vector<std::string>& reference_topics() {
  static const std::vector<std::string> topics{"commands", "scenario", "catalogs"};
  return topics;
}

void run_reference(const ReferenceCommand& command, const std::string& commands_markdown) {
  if (command.topic == "commands") return write_output("", commands_markdown);
  write_output("", command.topic == "scenario" ? scenario_page() : catalogs_page());
}

}  // namespace foretrain

// reference: pages that only the program can keep true.
#include <array>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/listing.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/calibration/calibration_constants.hpp"
#include "sim/scenario/sections/scenario_keys.hpp"
#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

namespace {

std::string printed_by(std::string_view topic) {
  return fmt::format("\n\nPrinted by `foretrain reference {}`.\n", topic);
}

/// A cell must not end its column.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

/// Lowest and highest value of each dimension, why there.
std::string ranges_table() {
  struct Row {
    Dimension dimension;
    std::string_view unit, why;
  };
  static constexpr std::array<Row, 6> kRows{
      {{Dimension::time, "s", "the clock's tick; 100 million days, the longest run"},
       {Dimension::bytes, "B", "one byte; a ninth of what 64 bits count"},
       {Dimension::byte_rate, "B/s", "a byte every second; a megabyte every tick of the clock"},
       {Dimension::flops, "FLOP", ""},
       {Dimension::flop_rate, "FLOP/s", ""},
       {Dimension::power, "W", "a power station"}}};
  std::string out = "\n| quantity | zero, or from | to | why |\n|---|---|---|---|\n";
  for (const Row& row : kRows) {
    const QuantityRange& range = range_of(row.dimension);
    out += fmt::format("| {} | {:g} {} | {:g} {} | {} |\n", name_of(row.dimension), range.least, row.unit,
                       range.most, row.unit, row.why);
  }
  out += fmt::format(
      "| a time that is simulated | {:g} s | {:g} s | 64 bits of picoseconds hold nine of them |\n",
      kDurationRange.least, kDurationRange.most);
  return out +
         fmt::format("| a latency of one hop | {:g} s | {:g} s | collectives take millions of steps |\n",
                     kLatencyRange.least, kLatencyRange.most);
}

std::string scenario_page() {
  std::string out = "# Keys of a scenario" + printed_by("scenario") +
                    "\nA quantity is a string with its unit. Unknown keys are errors. `--set KEY=VALUE` "
                    "takes every key by its full "
                    "name.\n\n| key | kind | default | meaning |\n|---|---|---|---|\n";
  for (const ScenarioKey& key : scenario_keys()) {
    const std::string of = key.strategies.empty() ? "" : fmt::format("{}: ", fmt::join(key.strategies, ", "));
    out += fmt::format("| `{}` | {} | {} | {}{} |\n", key.name, cell(key.kind), cell(key.fallback), of,
                       cell(key.meaning));
  }
  return out +
         "\n## Ranges\n\nWhat lies beyond is refused, with the limits in the unit it was written in. A key "
         "may narrow its range.\n" +
         ranges_table();
}

std::string catalogs_page() {
  std::string out = "# Catalogs" + printed_by("catalogs");
  for (const std::string& what : listable()) {
    out += fmt::format("\n## {}\n\n| name | |\n|---|---|\n", what);
    for (const ListedEntry& entry : list_entries(what))
      out += fmt::format("| `{}` | {} |\n", entry.name, cell(entry.summary));
  }
  return out;
}

/// Single calls have one value; the others depend on the GPU, the CPU or the link, and a cluster's files
/// state them.
std::string constants_page() {
  std::string out = "# Constants" + printed_by("constants") +
                    "\nEvery constant that a calibration file may state (`foretrain calibrate`), with the "
                    "range that physics allows. "
                    "Calls of the host are seconds on the reference CPU, times `host.slowdown`.\n\n| "
                    "constant | meaning | least | most "
                    "|\n|---|---|---|---|\n";
  const std::vector<ConstantOf<CallCosts>>& calls = call_constants();
  for (const ConstantRange& range : calibratable_constants()) {
    if (!range.name.starts_with("call."))
      out += fmt::format("| `{}` | {} | {:g} | {:g} |\n", range.name, cell(range.meaning), range.least,
                         range.most);
  }
  out += "\n## Single calls\n\n| constant | microseconds | meaning | source |\n|---|---|---|---|\n";
  for (const auto& [range, get, set] : calls)
    out += fmt::format("| `{}` | {:g} | {} | {} |\n", range.name, to_microseconds(seconds(get({}))),
                       cell(range.meaning), cell(range.source));
  return out;
}

}  // namespace

const std::vector<std::string>& reference_topics() {
  static const std::vector<std::string> topics{"commands", "scenario", "catalogs", "constants"};
  return topics;
}

void run_reference(const ReferenceCommand& command, const std::string& commands_markdown) {
  if (command.topic == "commands") return write_output("", commands_markdown);
  if (command.topic == "constants") return write_output("", constants_page());
  write_output("", command.topic == "scenario" ? scenario_page() : catalogs_page());
}

}  // namespace foretrain

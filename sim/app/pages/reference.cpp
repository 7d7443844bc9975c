// The command reference: prints the reference pages. They are generated from the program's own tables, so
// they are always true for this version.
//
// `foretrain reference scenario` prints one page to standard output. `make docs` stores the same pages under
// docs/reference.
#include <array>

#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/pages/listing.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/quantity.hpp"
#include "sim/report/fields/output_shape.hpp"
#include "sim/report/notices.hpp"
#include "sim/report/output_file.hpp"
#include "sim/scenario/calibration/calibration_constants.hpp"
#include "sim/scenario/layers/layer_words.hpp"
#include "sim/scenario/schema/cluster_keys.hpp"
#include "sim/scenario/schema/schema_program.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/sections/scenario_keys.hpp"
#include "sim/strategy/process/call_costs.hpp"
#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {

namespace {

/// Returns the line below a heading that names the command which prints the page.
std::string printed_by(std::string_view topic) {
  return fmt::format("\n\nPrinted by `foretrain reference {}`.\n", topic);
}

/// Returns the text with "|" escaped, as it would end a column of the table.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? "\\|" : std::string(1, c);
  return out;
}

/// Returns a table with the lowest and highest value of each dimension, and the reason for these limits.
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

/// Returns docs/reference/scenario.md: every key of a scenario.
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

/// Returns one table of keys under its heading.
std::string keys_table(const KeyTable& table) {
  std::string out = fmt::format("\n## {}\n", table.heading);
  if (!table.about.empty()) out += fmt::format("\n{}\n", table.about);
  out += "\n| key | kind | default | meaning | for example |\n|---|---|---|---|---|\n";
  for (const DescribedKey& key : table.keys)
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", key.name, cell(key.kind), cell(key.fallback),
                       cell(key.meaning), key.example.empty() ? "" : fmt::format("`{}`", cell(key.example)));
  return out;
}

// Rules that hold for every kind of file.
constexpr std::string_view kRulesOfFiles =
    "\nA quantity is a string with its unit. Unknown keys are errors. A relative path is relative to the "
    "file "
    "that it stands in. ";

/// Returns docs/reference/cluster.md: every key of a cluster file.
std::string cluster_page() {
  std::string out =
      "# Keys of a cluster file" + printed_by("cluster") + std::string(kRulesOfFiles) +
      "`foretrain topology new` writes a first one, `foretrain topology check` finds its mistakes "
      "([tutorial](../tutorials/my-machine.md)).\n";
  for (const KeyTable& table : cluster_key_tables()) out += keys_table(table);
  return out;
}

/// Returns docs/reference/model.md: every key of a model file and every type of layer.
std::string model_page() {
  std::string out =
      "# Keys of a model file" + printed_by("model") + std::string(kRulesOfFiles) +
      "Blocks, names and branches: [model files](../models/networks.md#model-files); a first one: "
      "[tutorial](../tutorials/my-model.md).\n";
  for (const KeyTable& table : model_key_tables()) out += keys_table(table);
  out +=
      "\n## Layers\n\nAll take `type`, `name`, `from`, `as` and `weights`; `start` no `from`. Keys in bold "
      "must be "
      "given.\n\n| type | keys | what it is |\n|---|---|---|\n";
  for (const DescribedLayer& layer : described_layers())
    out += fmt::format("| {} | {} | {} |\n", layer.type, layer.keys, cell(layer.meaning));
  return out;
}

/// Returns docs/reference/program.md: every key of a program file.
std::string program_page() {
  std::string out = "# Keys of a program file" + printed_by("program") + std::string(kRulesOfFiles) +
                    "`foretrain record` writes it; `predict --program FILE` replays it "
                    "([tutorial](../tutorials/my-program.md)).\n";
  for (const KeyTable& table : program_key_tables()) out += keys_table(table);
  return out;
}

/// Returns docs/reference/operators.md. Adjacent operators with the same cost share a row.
std::string operators_page() {
  std::string out = "# Operators of recorded networks" + printed_by("operators") +
                    "\nWhat an operator of a recorded network costs, from the sizes of its tensors "
                    "([the rules](../models/networks.md#recorded-networks)). n: elements of the result; in, "
                    "out: of first operand "
                    "and first result. Names are those of aten; in place, with `_` behind it, alike.\n\n"
                    "| operators | class | FLOPs | bytes |\n|---|---|---|---|\n";
  const std::vector<OperatorRule>& rules = operator_rules();
  for (std::size_t first = 0; first < rules.size();) {
    const auto same = [&](const OperatorRule& rule) {
      return rule.flops == rules[first].flops && rule.bytes == rules[first].bytes &&
             rule.cls == rules[first].cls && rule.call == rules[first].call && rule.role == rules[first].role;
    };
    std::string names;
    std::size_t next = first;
    for (; next < rules.size() && same(rules[next]); ++next)
      names += fmt::format("{}`{}`", next > first ? ", " : "", rules[next].name);
    const bool silent = rules[first].role == OperatorRole::silent;
    out += fmt::format("| {} | {} | {} | {} |\n", names, silent ? "no kernel" : name_of(rules[first].cls),
                       cell(rules[first].flops), cell(rules[first].bytes));
    first = next;
  }
  return out;
}

// A JSON report whose fields are not declared in sim/report/fields, and the command that prints it.
struct JsonReport {
  std::string_view name, printed_by;
};
constexpr JsonReport kJsonReports[] = {
    {"model", "model show"},
    {"job", "job show"},
    {"job_check", "job check"},
    {"settings", "job settings"},
    {"explanation", "explain"},
    {"validation", "validate"},
    {"left_out", "validate --leave-out WHAT"},
    {"calibration_check", "calibrate check"},
    {"trace", "trace show"},
    {"trace_difference", "trace diff"},
    {"tuning", "tune"},
};

/// Returns docs/reference/output.md: every JSON report with its schema.
std::string output_page() {
  std::string out =
      "# Reports for programs" + printed_by("output") +
      "\nWith `--format json` these commands print JSON; `schema` in it names what it is. What stays the "
      "same: [the promise](schema/README.md).\n\n| schema | printed by | file |\n|---|---|---|\n";
  const auto row = [&out](const auto& report) {
    out += fmt::format("| `foretrain.{0}/1` | `{1}` | [schema/{0}.json](schema/{0}.json) |\n", report.name,
                       report.printed_by);
  };
  for (const DeclaredReport& report : declared_reports()) row(report);
  for (const JsonReport& report : kJsonReports) row(report);
  return out;
}

/// Returns docs/reference/catalogs.md: every entry of every catalog.
std::string catalogs_page() {
  std::string out = "# Catalogs" + printed_by("catalogs");
  for (const std::string& what : listable()) {
    out += fmt::format("\n## {}\n\n| name | |\n|---|---|\n", what);
    for (const ListedEntry& entry : list_entries(what))
      out += fmt::format("| `{}` | {} |\n", entry.name, cell(entry.summary));
  }
  return out;
}

/// Returns docs/reference/constants.md. Single calls have one value each; other constants depend on the GPU,
/// the CPU or the link, and the cluster's files state them.
std::string constants_page() {
  std::string out = "# Constants" + printed_by("constants") +
                    "\nEvery constant that a calibration file may state (`foretrain calibrate`), with the "
                    "range that physics allows. "
                    "Times are in seconds; those of calls are on the reference CPU.\n\n| "
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

// A page by its topic. Pages about commands come from the command line, which passes them in.
struct ReferencePage {
  std::string_view name;
  std::string (*text)(const CommandTexts& texts);
};
constexpr ReferencePage kPages[] = {
    {"commands", [](const CommandTexts& texts) { return texts.markdown; }},
    {"scenario", [](const CommandTexts&) { return scenario_page(); }},
    {"cluster", [](const CommandTexts&) { return cluster_page(); }},
    {"model", [](const CommandTexts&) { return model_page(); }},
    {"program", [](const CommandTexts&) { return program_page(); }},
    {"operators", [](const CommandTexts&) { return operators_page(); }},
    {"output", [](const CommandTexts&) { return output_page(); }},
    {"catalogs", [](const CommandTexts&) { return catalogs_page(); }},
    {"constants", [](const CommandTexts&) { return constants_page(); }},
    {"licences", [](const CommandTexts&) { return std::string(packed_notices()); }},
    {"man", [](const CommandTexts& texts) { return texts.manual; }},
    {"typescript", [](const CommandTexts&) { return typescript_text(); }},
    {"python", [](const CommandTexts&) { return python_text(); }},
};

// Start of topics such as "schema/prediction": the JSON Schema of a report.
constexpr std::string_view kSchemaTopic = "schema/";

}  // namespace

// Pages first, then the schemas of declared reports.
const std::vector<std::string>& reference_topics() {
  static const std::vector<std::string> topics = [] {
    std::vector<std::string> out = names_of_rows(kPages);
    for (const DeclaredReport& report : declared_reports())
      out.push_back(std::string(kSchemaTopic) + std::string(report.name));
    return out;
  }();
  return topics;
}

// A topic "schema/NAME" prints the JSON Schema of a report, all others print a page.
void run_reference(const ReferenceCommand& command, const CommandTexts& texts) {
  for (const DeclaredReport& report : declared_reports())
    if (command.topic == std::string(kSchemaTopic) + std::string(report.name))
      return write_output("", schema_text(report));
  write_output("", find_row(kPages, command.topic)->text(texts));
}

}  // namespace foretrain

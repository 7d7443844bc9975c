// Sorts the files of a command line by what they contain. The ending of a name only decides when no reader
// accepts the content; then it selects the reader whose error message is printed.
#include "sim/app/options/named_files.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/app/named_scenario.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/job_script.hpp"
#include "sim/import/models/model_file.hpp"
#include "sim/import/settings/readers.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

// The kind of a named file: a scenario (or job script, program file, name of the catalog), training settings
// of another tool, or a network of another tool.
enum class FileKind : std::uint8_t { scenario, settings, network };

/// Returns true when a reader of `model import` accepts the text.
bool is_network_of_another_tool(std::string_view text) {
  return std::ranges::any_of(model_formats(),
                             [text](const ModelFormat& format) { return format.recognises(text); });
}

/// Returns true for a scenario in TOML. torchtitan's settings are TOML as well, with a table [training] that
/// no scenario has.
bool is_scenario_file(const SourceText& source) {
  const bool has_training =
      source.text.starts_with("[training]") || source.text.find("\n[training]") != std::string::npos;
  return source.name.ends_with(".toml") && !has_training;
}

/// Returns the kind of a file by its content, and by its ending when no reader accepts it.
FileKind kind_of(const std::string& file) {
  // The word is no file: a name of the catalog, or a mistake that the reader of scenarios reports.
  if (!is_readable_file(file)) return FileKind::scenario;
  // These two formats are binary and cannot be read as text.
  if (file.ends_with(".onnx") || file.ends_with(".pt2")) return FileKind::network;
  // The reader of scenarios then reports why the file is no text.
  if (!text_file_refusal(file).empty()) return FileKind::scenario;
  const SourceText source = read_text_file(file);
  if (is_scenario_file(source) || is_program_file(source.text) || is_job_script(source.text))
    return FileKind::scenario;
  if (is_network_of_another_tool(source.text)) return FileKind::network;
  const bool by_ending = file.ends_with(".json") || file.ends_with(".yaml") || file.ends_with(".yml");
  return by_ending || is_settings(source) ? FileKind::settings : FileKind::scenario;
}

}  // namespace

// Only a file of another tool needs work here; names and model files are opened with the scenario.
void take_model(const std::string& name, ScenarioOverrides& overrides) {
  overrides.model = name;
  if (name.ends_with(".toml") || !is_readable_file(name)) return;
  const SourceText source = read_text_file(name, kLargestModelFile);
  if (!is_network_of_another_tool(source.text)) return;
  ImportedModel made = import_model(source, {});
  for (const std::string& remark : made.remarks)
    overrides.notes.push_back(fmt::format("{}: {}", printable(name), remark));
  overrides.networks[name] = std::move(made.text);
}

// The file is imported while the line is parsed, so that its mistakes come first.
void add_model(CLI::App& command, ScenarioOverrides& overrides, const char* meaning) {
  command
      .add_option_function<std::string>(
          "--model", [&overrides](const std::string& name) { take_model(name, overrides); }, meaning)
      ->type_name("NAME");
}

// The order of the remaining names is kept, as reports follow it.
void sort_files(std::vector<std::string>& names, std::vector<std::string>& settings_files,
                ScenarioOverrides& overrides) {
  std::vector<std::string> scenarios;
  for (std::string& name : names) {
    const FileKind kind = kind_of(name);
    if (kind == FileKind::network && !overrides.model.empty())
      throw InputError(fmt::format("{} and {} are two networks for one training", printable(overrides.model),
                                   printable(name)),
                       "leave one of them out");
    if (kind == FileKind::network) take_model(name, overrides);
    if (kind == FileKind::settings) settings_files.push_back(std::move(name));
    if (kind == FileKind::scenario) scenarios.push_back(std::move(name));
  }
  names = std::move(scenarios);
}

}  // namespace foretrain

// What a file is, is told by its text. Its ending decides only where no reader takes it, and then which
// reader explains why.
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

enum class FileKind : std::uint8_t { scenario, settings, network };

bool is_network_of_another_tool(std::string_view text) {
  return std::ranges::any_of(model_formats(),
                             [text](const ModelFormat& format) { return format.recognises(text); });
}

/// Settings of torchtitan are TOML as our scenarios are, and have a table that no scenario has.
bool is_scenario_file(const SourceText& source) {
  const bool has_training =
      source.text.starts_with("[training]") || source.text.find("\n[training]") != std::string::npos;
  return source.name.ends_with(".toml") && !has_training;
}

FileKind kind_of(const std::string& file) {
  if (!is_readable_file(file)) return FileKind::scenario;  // a name of the catalog, or a mistake
  if (file.ends_with(".onnx") || file.ends_with(".pt2")) return FileKind::network;
  if (!text_file_refusal(file).empty()) return FileKind::scenario;  // whose reader says why
  const SourceText source = read_text_file(file);
  if (is_scenario_file(source) || is_program_file(source.text) || is_job_script(source.text))
    return FileKind::scenario;
  if (is_network_of_another_tool(source.text)) return FileKind::network;
  const bool by_ending = file.ends_with(".json") || file.ends_with(".yaml") || file.ends_with(".yml");
  return by_ending || is_settings(source) ? FileKind::settings : FileKind::scenario;
}

}  // namespace

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

void add_model(CLI::App& command, ScenarioOverrides& overrides, const char* meaning) {
  command
      .add_option_function<std::string>(
          "--model", [&overrides](const std::string& name) { take_model(name, overrides); }, meaning)
      ->type_name("NAME");
}

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

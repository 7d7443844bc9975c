// Scripts that a script starts by name are looked for beside it, never outside its folder.
#include "sim/app/opened_job.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/job_cluster.hpp"
#include "sim/import/job_scenario.hpp"
#include "sim/import/jobs/whole_nodes.hpp"
#include "sim/import/program_arguments.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

/// Scripts that a job script starts by name, from its own folder and those below it: nothing else of the disk
/// is read.
ScriptFinder scripts_beside(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  return [folder](const std::string& name) -> std::optional<SourceText> {
    const fs::path path = name;
    const bool leaves =
        path.is_absolute() || std::find(path.begin(), path.end(), fs::path("..")) != path.end();
    const std::string found = (folder / path).string();
    std::error_code problem;
    if (name.empty() || name.size() > 256 || leaves || !fs::is_regular_file(found, problem) ||
        !text_file_refusal(found).empty())
      return std::nullopt;
    SourceText text = read_text_file(found);
    if (text.text.find('\0') != std::string::npos) return std::nullopt;
    return text;
  };
}

/// What an option or --set says of a key; empty when neither does.
std::string said_of(std::string_view key, const std::string& option,
                    const std::vector<std::string>& settings) {
  std::string value = option;
  for (const std::string& setting : settings) {
    if (option.empty() && setting.starts_with(std::string(key) + "=")) value = setting.substr(key.size() + 1);
  }
  std::erase(value, '"');
  return value;
}

/// Whether the user describes the data: then the job's cores count, whatever the script says of its loader.
bool loads_data(const ScenarioOverrides& overrides) {
  return std::any_of(overrides.settings.begin(), overrides.settings.end(), [](const std::string& setting) {
    return setting.starts_with("data.") && !setting.starts_with("data.samples");
  });
}

/// The network: an option's, or what the training program is told, where our catalog has one of that name.
struct SaidModel {
  std::string name;                           ///< empty: nothing says it
  const ProgramArgument* argument = nullptr;  ///< of the program, as in --arch resnet101
};

SaidModel model_of(const JobScript& script, const ScenarioOverrides& overrides) {
  SaidModel said{said_of("model.name", overrides.model, overrides.settings)};
  const ProgramArgument* argument = find_argument(script.launch.arguments, "model");
  if (!said.name.empty() || argument == nullptr) return said;
  said.name = spelt_alike(argument->value, names_in(CatalogKind::models));
  if (!said.name.empty()) said.argument = argument;
  return said;
}

std::string line_of(const JobScript& script, const ProgramArgument& argument) {
  const std::string& file = script.launch.file;
  return fmt::format("{}line {}", file.empty() ? "" : file + " ", argument.span.line);
}

/// People should know that a name was taken for a network of ours.
Diagnostic taken_as_model(const JobScript& script, const SaidModel& said) {
  const std::string& file = script.launch.file.empty() ? script.file : script.launch.file;
  return {file, said.argument->span, "",
          fmt::format("{} {} is taken for the catalog's model {}; --model NAME says otherwise",
                      said.argument->option, said.argument->value, said.name),
          ""};
}

/// With what the program is told, which may be a network under another name.
InputError missing_model(const JobScript& script) {
  std::string hint = "give --model NAME, as in --model resnet50";
  if (const ProgramArgument* argument = find_argument(script.launch.arguments, "model"))
    hint += fmt::format("; {} says {} {}, {}", line_of(script, *argument), argument->option,
                        shortened(argument->value, 60),
                        unknown_name_hint(CatalogKind::models, shortened(argument->value, 60)));
  return InputError(fmt::format("{} does not say which network it trains", script.file), hint);
}

/// Every reason and hint, where there is room for one line.
std::string in_one_line(const InputError& error) {
  std::string out;
  for (const Diagnostic& reason : error.diagnostics())
    out += fmt::format("{}{}{}", out.empty() ? "" : "; ", reason.message,
                       reason.hint.empty() ? "" : fmt::format(" ({})", reason.hint));
  return out.empty() ? error.first_message() : out;
}

}  // namespace

OpenedJob read_job(SourceText text, const ScenarioOverrides& overrides) {
  OpenedJob job;
  job.script = read_job_script(text, scripts_beside(text.name));
  job.text = std::move(text);
  try {
    job.cluster = choose_cluster(job.script, said_of("cluster.name", overrides.cluster, overrides.settings));
  } catch (const InputError& error) {
    // A cluster that the user names must be there; one that the script leaves open may stay open.
    if (!overrides.cluster.empty()) throw;
    job.no_cluster = error.what();
    job.no_cluster_sentence = in_one_line(error);
  }
  if (job.cluster) take_whole_nodes(job.script, *job.cluster);
  job.findings = check_job(job.script, job.text, job.cluster.value_or(ClusterSpec{}));
  const SaidModel said = model_of(job.script, overrides);
  JobScenarioOptions options{said.name, loads_data(overrides)};
  if (said.argument != nullptr)
    options.model_said_by = line_of(job.script, *said.argument) + ": " + said.argument->option;
  if (job.cluster) job.toml = write_job_scenario(job.script, *job.cluster, options);
  return job;
}

OpenedJob open_job(SourceText text, const ScenarioOverrides& overrides) {
  OpenedJob job = read_job(std::move(text), overrides);
  std::vector<Diagnostic> mistakes = job.findings.refused;
  if (!job.script.resources.gpus && overrides.gpus.empty())
    mistakes.push_back(
        {job.text.name, {}, "", "how many GPUs it reserves is not known", "give --gpus, as in --gpus 1,4"});
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  if (!job.cluster) choose_cluster(job.script, "");  // throws, with the candidates
  const SaidModel said = model_of(job.script, overrides);
  if (said.name.empty()) throw missing_model(job.script);
  if (said.argument != nullptr) job.findings.warnings.push_back(taken_as_model(job.script, said));
  return job;
}

}  // namespace foretrain

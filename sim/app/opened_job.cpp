// Scripts that a script starts by name are looked for beside it, never outside its folder.
#include "sim/app/opened_job.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/analysis/advice/time_limit.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/job_cluster.hpp"
#include "sim/import/job_scenario.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

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

bool loads_data(const ScenarioOverrides& overrides) {
  return std::any_of(overrides.settings.begin(), overrides.settings.end(), [](const std::string& setting) {
    return setting.starts_with("data.") && !setting.starts_with("data.samples");
  });
}

InputError missing_model(const JobScript& script) {
  std::string hint = "give --model NAME, as in --model resnet50";
  for (const ProgramArgument& argument : script.launch.arguments) {
    if (argument.key == "model")
      hint += fmt::format("; line {} says {} {}", argument.span.line, argument.option, argument.value);
  }
  return InputError(fmt::format("{} does not say which network it trains", script.file), hint);
}

}  // namespace

OpenedJob read_job(SourceText text, const ScenarioOverrides& overrides) {
  OpenedJob job;
  job.script = read_job_script(text, scripts_beside(text.name));
  job.text = std::move(text);
  try {
    job.cluster = choose_cluster(job.script, said_of("cluster.name", overrides.cluster, overrides.settings));
  } catch (const InputError& error) {
    if (!overrides.cluster.empty()) throw;
    job.no_cluster = error.what();
  }
  job.findings = check_job(job.script, job.text, job.cluster.value_or(ClusterSpec{}));
  const JobScenarioOptions options{said_of("model.name", overrides.model, overrides.settings),
                                   loads_data(overrides)};
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
  if (said_of("model.name", overrides.model, overrides.settings).empty()) throw missing_model(job.script);
  return job;
}

void apply_job(const OpenedJob& job, Scenario& scenario) {
  for (const Diagnostic& warning : job.findings.warnings) scenario.warnings.push_back(one_line(warning));
  const JobResources& have = job.script.resources;
  if (!have.nodes || !have.gpus_per_node || have.nodes->value < 2 ||
      have.gpus_per_node->value >= scenario.cluster.node.gpus)
    return;
  const std::int64_t room = std::int64_t{have.nodes->value} * scenario.cluster.node.gpus;
  const bool fits =
      have.nodes->value <= scenario.cluster.nodes &&
      std::all_of(scenario.gpus.begin(), scenario.gpus.end(), [room](int gpus) { return gpus <= room; });
  if (!fits || scenario.layout != Layout::packed) return;
  scenario.layout = Layout::spread;
  scenario.cluster.nodes = have.nodes->value;
  scenario.warnings.push_back(
      fmt::format("{} of {} GPUs on each of {} nodes: predicted spread over them, and searched no further",
                  have.gpus_per_node->value, scenario.cluster.node.gpus, have.nodes->value));
}

void check_time_limit(const OpenedJob& job, Prediction& prediction) {
  const auto& limit = job.script.request.seconds;
  if (!limit) return;
  const std::string why = time_limit_warning(limit->value, reserved_gpus(job.script), prediction);
  if (!why.empty())
    prediction.warnings.push_back(fmt::format("{}:{}: {}", printable(job.text.name), limit->span.line, why));
}

}  // namespace foretrain

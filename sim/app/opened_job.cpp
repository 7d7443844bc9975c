// Reads a job script with the scripts and settings that it names, checks it against its cluster, and makes a
// scenario of it. Named files are searched beside the script, never outside its folder.
#include "sim/app/opened_job.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/app/settings_files.hpp"
#include "sim/base/printable.hpp"
#include "sim/cluster/site_kinds.hpp"
#include "sim/import/job_cluster.hpp"
#include "sim/import/job_scenario.hpp"
#include "sim/import/job_settings.hpp"
#include "sim/import/jobs/requested_gpus.hpp"
#include "sim/import/jobs/whole_nodes.hpp"
#include "sim/import/program_arguments.hpp"
#include "sim/import/settings/readers.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/site_names.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Returns the value that an option or --set gives to a key; empty when neither does.
std::string said_of(std::string_view key, const std::string& option,
                    const std::vector<std::string>& settings) {
  std::string value = option;
  for (const std::string& setting : settings) {
    if (option.empty() && setting.starts_with(std::string(key) + "=")) value = setting.substr(key.size() + 1);
  }
  std::erase(value, '"');
  return value;
}

/// Returns true when the user describes the data. Then the job's CPU cores limit loading, whatever the script
/// says about its loader.
bool loads_data(const ScenarioOverrides& overrides) {
  return std::any_of(overrides.settings.begin(), overrides.settings.end(), [](const std::string& setting) {
    return setting.starts_with("data.") && !setting.starts_with("data.samples");
  });
}

/// The network: given by an option, or by an argument of the program when the catalog has a model of that
/// name.
struct GivenModel {
  /// Name of the network; empty: nothing gives it.
  std::string name;
  /// Argument of the program that gives it, as in --arch resnet101; nullptr: an option does.
  const ProgramArgument* argument = nullptr;
};

/// Returns the network. An option of foretrain wins over an argument of the program.
GivenModel model_of(const JobScript& script, const ScenarioOverrides& overrides) {
  GivenModel said{said_of("model.name", overrides.model, overrides.settings)};
  const ProgramArgument* argument = find_argument(script.launch.arguments, "model");
  if (!said.name.empty() || argument == nullptr) return said;
  said.name = model_named(argument->value);
  if (!said.name.empty()) said.argument = argument;
  return said;
}

/// Returns the place of a program's argument for a message.
std::string line_of(const JobScript& script, const ProgramArgument& argument) {
  const std::string& file = script.launch.file;
  return fmt::format("{}line {}", file.empty() ? "" : file + " ", argument.span.line);
}

/// Returns a note that a name in the script was taken for a model of the catalog.
Diagnostic taken_as_model(const JobScript& script, const GivenModel& said) {
  const std::string& file = script.launch.file.empty() ? script.file : script.launch.file;
  return {file, said.argument->span, "",
          fmt::format("{} {} is taken for the catalog's model {}; --model NAME says otherwise",
                      said.argument->option, said.argument->value, said.name),
          ""};
}

/// Returns the setting whose network is not in the catalog; nullptr: there is none.
const ReadKey* open_network(const std::vector<TrainingSettings>& settings) {
  for (const TrainingSettings& read : settings)
    for (const ReadKey& key : read.keys)
      if (key.path == kNetworkOfProgram && key.fate == KeyFate::open) return &key;
  return nullptr;
}

/// Returns the error about an unknown network. Its hint quotes what the settings or the program's arguments
/// say.
InputError missing_model(const JobScript& script, const std::vector<TrainingSettings>& settings) {
  std::string hint = "give --model NAME, as in --model resnet50";
  if (const ReadKey* key = open_network(settings))
    hint += fmt::format("; {}:{}: {}", key->file, key->span.line, key->note);
  if (const ProgramArgument* argument = find_argument(script.launch.arguments, "model"))
    hint += fmt::format("; {} says {} {}, {}", line_of(script, *argument), argument->option,
                        shortened(argument->value, 60),
                        unknown_name_hint(CatalogKind::models, shortened(argument->value, 60)));
  return InputError(fmt::format("{} does not say which network it trains", script.file), hint);
}

/// Returns all reasons and hints of an error on one line.
std::string in_one_line(const InputError& error) {
  std::string out;
  for (const Diagnostic& reason : error.diagnostics())
    out += fmt::format("{}{}{}", out.empty() ? "" : "; ", reason.message,
                       reason.hint.empty() ? "" : fmt::format(" ({})", reason.hint));
  return out.empty() ? error.first_message() : out;
}

/// Adds warnings about settings that the prediction ignores, and about settings that contradict the script.
void add_settings_warnings(OpenedJob& job) {
  for (const TrainingSettings& settings : job.settings) {
    for (Diagnostic& note : notes_of(settings)) job.findings.warnings.push_back(std::move(note));
    for (const auto& [key, own] :
         {std::pair{"model.batch_per_gpu", "batch_per_gpu"}, std::pair{"model.batch_per_gpu", "batch"},
          std::pair{"strategy.accumulation", "accumulation"}}) {
      const ReadKey* said = said_by(settings, key);
      const ProgramArgument* told = find_argument(job.script.launch.arguments, own);
      // Equal values, and a setting that is itself this argument, are no contradiction.
      if (said == nullptr || told == nullptr || said->value == told->value || said->path == told->key ||
          said->file == job.text.name)
        continue;
      job.findings.warnings.push_back(
          {said->file, said->span, "",
           fmt::format("{} = {}, but the program is told {} {}, which counts here", said->path, said->value,
                       told->option, told->value),
           ""});
    }
  }
}

/// Adds the text of the line to each diagnostic, so that messages can quote it.
std::vector<Diagnostic> with_lines(std::vector<Diagnostic> mistakes, const SourceText& text) {
  for (Diagnostic& mistake : mistakes) mistake.line_text = text.line(mistake.span.line);
  return mistakes;
}

}  // namespace

bool describes_network(const OpenedJob& job) {
  return std::ranges::any_of(job.settings, [](const TrainingSettings& settings) {
    return !value_of(settings, "model.network").empty() || !value_of(settings, "model.name").empty();
  });
}

bool names_program(const ScenarioOverrides& overrides) {
  return std::ranges::any_of(
      overrides.settings, [](const std::string& setting) { return setting.starts_with("model.program="); });
}

// Steps: read script and settings, determine the network, choose the cluster, check the request, write the
// scenario.
OpenedJob read_job(SourceText text, const ScenarioOverrides& overrides) {
  OpenedJob job;
  const ScriptFinder find = sibling_files(text.name);
  job.script = read_job_script(text, find);
  job.text = std::move(text);
  JobSettings settings = read_job_settings(job.text, job.script, find);
  job.settings = std::move(settings.files);
  // A network that is given makes the program's own unknown one irrelevant.
  const GivenModel said = model_of(job.script, overrides);
  for (TrainingSettings& read : job.settings)
    if (!said.name.empty())
      std::erase_if(read.keys, [](const ReadKey& key) { return key.path == kNetworkOfProgram; });
  // The cluster of --cluster or cluster.name, with its partition when one is given.
  std::string asked_cluster = said_of("cluster.name", overrides.cluster, overrides.settings);
  // A partition that the user names takes precedence over the script's.
  const std::string partition = said_of("cluster.partition", "", overrides.settings);
  if (!asked_cluster.empty() && !partition.empty() && !site_part_of(asked_cluster))
    asked_cluster += "/" + partition;
  // Mistakes about nodes that the script requests and the user's cluster does not have.
  std::vector<Diagnostic> no_nodes;
  try {
    job.cluster = choose_cluster(job.script, asked_cluster);
  } catch (const InputError& error) {
    const bool is_of_script = error.diagnostics().front().file == job.text.name;
    if (is_of_script) no_nodes = with_lines(error.diagnostics(), job.text);
    // A cluster that the user names must exist; one that the script leaves open may stay unknown.
    if (!overrides.cluster.empty() && !is_of_script) throw;
    job.no_cluster = error.what();
    // An error of the script itself is printed with its line instead.
    if (!is_of_script) job.no_cluster_sentence = in_one_line(error);
  }
  if (job.cluster) take_whole_nodes(job.script, *job.cluster);
  // In a process that drives several GPUs, the script's batch, workers and CPUs count for all of these GPUs.
  std::vector<Diagnostic> settings_notes;
  const StrategyEntry* asked =
      find_strategy(said_of("strategy.name", overrides.strategy, overrides.settings));
  if (asked != nullptr) {
    for (TrainingSettings& read : job.settings) {
      for (Diagnostic& note : leave_out_options(asked->name, read)) settings_notes.push_back(std::move(note));
    }
  }
  if (asked != nullptr && asked->processes != Processes::per_gpu)
    job.script.launch.asked_strategy = asked->name;
  job.findings = check_job(job.script, job.text, job.cluster.value_or(ClusterSpec{}));
  for (Diagnostic& note : settings_notes) job.findings.warnings.push_back(std::move(note));
  for (Diagnostic& mistake : no_nodes) job.findings.refused.push_back(std::move(mistake));
  for (Diagnostic& mistake : settings.mistakes) job.findings.refused.push_back(std::move(mistake));
  add_settings_warnings(job);
  // The scenario is written even when there are mistakes, so that `job show` can print it.
  JobScenarioOptions options{said.name, loads_data(overrides)};
  options.settings = job.settings;
  options.is_recorded = names_program(overrides);
  if (said.argument != nullptr)
    options.model_said_by = line_of(job.script, *said.argument) + ": " + said.argument->option;
  if (job.cluster && !asked_cluster.empty() && open_parts(asked_cluster).size() > 1)
    options.kind = part_name(*job.cluster);
  if (job.cluster) job.toml = write_job_scenario(job.script, *job.cluster, options);
  return job;
}

namespace {

/// Turns the script's wrong type of GPU into a warning. A cluster that the user names is a question of its
/// own: how the job would run there.
void allow_other_gpus(OpenedJob& job) {
  for (const WrongGpu& wrong : wrong_gpus(job.script, *job.cluster)) {
    std::erase_if(job.findings.refused, [&](const Diagnostic& row) { return row.message == wrong.message; });
    job.findings.warnings.push_back({job.text.name, wrong.span, "", wrong.message, ""});
  }
}

}  // namespace

// Everything that prevents a prediction is collected before it is thrown.
OpenedJob open_job(SourceText text, const ScenarioOverrides& overrides) {
  OpenedJob job = read_job(std::move(text), overrides);
  if (job.cluster && !said_of("cluster.name", overrides.cluster, overrides.settings).empty())
    allow_other_gpus(job);
  std::vector<Diagnostic> mistakes = job.findings.refused;
  if (!job.script.resources.gpus && overrides.gpus.empty())
    mistakes.push_back(
        {job.text.name, {}, "", "how many GPUs it reserves is not known", "give --gpus, as in --gpus 1,4"});
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  // Throws InputError with the clusters that the script may mean.
  if (!job.cluster) choose_cluster(job.script, "");
  const GivenModel said = model_of(job.script, overrides);
  if (names_program(overrides)) return job;
  if (said.name.empty() && !describes_network(job)) throw missing_model(job.script, job.settings);
  if (said.argument != nullptr) job.findings.warnings.push_back(taken_as_model(job.script, said));
  return job;
}

}  // namespace foretrain

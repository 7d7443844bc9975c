// Declares all commands and their options for CLI11 and parses the command line. Each command's callback runs
// it.
#include "sim/app/command_line.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/app/commands.hpp"
#include "sim/app/options/calibrate_options.hpp"
#include "sim/app/options/collective_options.hpp"
#include "sim/app/options/evidence_options.hpp"
#include "sim/app/options/explain_options.hpp"
#include "sim/app/options/export_options.hpp"
#include "sim/app/options/model_options.hpp"
#include "sim/app/options/named_files.hpp"
#include "sim/app/options/plan_options.hpp"
#include "sim/app/options/record_options.hpp"
#include "sim/app/options/serve_options.hpp"
#include "sim/app/options/sweep_options.hpp"
#include "sim/app/options/topology_options.hpp"
#include "sim/app/options/trace_options.hpp"
#include "sim/app/options/training_options.hpp"
#include "sim/app/options/tune_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/app/pages/command_pages.hpp"
#include "sim/app/pages/completion.hpp"
#include "sim/app/pages/page_origin.hpp"
#include "sim/app/pages/short_help.hpp"
#include "sim/base/held_output.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/printable.hpp"
#include "sim/report/model/model_catalog.hpp"
#include "sim/report/output_file.hpp"
#include "sim/report/prediction/job_check_report.hpp"
#include "sim/report/prediction/job_listing.hpp"
#include "sim/report/prediction/settings_listing.hpp"

namespace foretrain {

namespace {

/// Exit code of a command line that was not understood. main.cpp returns 1 for wrong input and 3 for I/O
/// errors.
constexpr int kUsageError = 2;

/// The values that options write to; they outlive the parse, as the callbacks refer to them.
struct Options {
  TrainingOptions training;
  PlanOptions plan;
  SweepOptions sweep;
  TuneOptions tune;
  CollectiveCommand collective;
  ListCommand list;
  ServeCommand serve;
  McpCommand mcp;
  TopologyOptions topology;
  ModelCommand model;
  ImportModelCommand model_import;
  JobCommand job;
  SettingsCommand settings;
  ExplainCommand explain;
  ExportOptions exported;
  CalibrateCommand calibrate;
  TraceCommand trace;
  EvidenceCommand evidence;
  MeasuredOptions measured;
  ReferenceCommand reference;
  std::string pasted, catalogs, shell;
  std::vector<std::string> help;
};

void add_list(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("list", "What the catalogs hold");
  command->add_option("WHAT", options.list.what, joined(listable()))
      ->required()
      ->transform(one_of(listable()));
  command->add_option("WORD", options.list.word, "Only what has it in name or description");
  command->add_flag("--names", options.list.only_names, "Only names, and no look into the files");
  command->footer("Examples:\n  foretrain list clusters\n  foretrain list models unet");
  command->callback([&options] { run_list(options.list); });
}

/// Adds the network and what its layers' costs depend on: batch, precision and GPU.
void add_model_question(CLI::App& command, ModelCommand& model) {
  command.add_option("MODEL", model.model, "A model of the catalog or a file")->required();
  command.add_option("--batch", model.batch, "Samples per GPU and step; weights are shared by them")
      ->type_name("N");
  command.add_option("--precision", model.precision, "As model.precision of a scenario")->type_name("NAME");
  CLI::Option* gpu =
      command.add_option("--gpu", model.gpu, "Also say where kernel time goes on this GPU of the catalog");
  gpu->type_name("NAME");
  command.add_option("--cluster", model.cluster, "The same on the GPU of this cluster")
      ->excludes(gpu)
      ->type_name("NAME");
  command
      .add_option("--set", model.settings,
                  "Any key of the scenario, as in model.optimizer=\"adam\"; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void add_model(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("model", "Look at a network");
  command->require_subcommand(1);
  ModelCommand& model = options.model;
  CLI::App* show = command->add_subcommand(
      "show", "Layers with shapes, parameters, FLOPs, bytes and kernels; memory; time on a GPU");
  add_model_question(*show, model);
  show->add_option_function<std::string>(
          "--layers", [&model](const std::string& name) { model.layers = listing_named(name); },
          "folded: what repeats, once with its count; all: every layer; none: only totals")
      ->transform(one_of(layer_listings()))
      ->type_name(joined(layer_listings()))
      ->default_str(layer_listings().front());
  show->add_option("--format", model.format, joined(model_report_names()))
      ->transform(one_of(model_report_names()))
      ->type_name("FORMAT")
      ->capture_default_str();
  show->add_option("-o,--output", model.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  show->footer(
      "Examples:\n  foretrain model show resnet50\n  foretrain model show resnet50 --batch 128 --precision "
      "amp_fp16 --gpu a100-sxm4-80gb\n "
      " "
      "foretrain model show ./my.toml --layers all --format csv -o layers.csv");
  show->callback([&model] { run_model_show(model); });
  add_model_import(*command, options.model_import);
}

void add_job_settings(CLI::App& command, SettingsCommand& settings) {
  CLI::App* show = command.add_subcommand(
      "settings", "What training settings of other tools come to: key by key, with what is left out");
  show->add_option(
          "FILE", settings.files,
          "DeepSpeed's JSON, accelerate's YAML, Lightning's Trainer (YAML or Python), FSDP, Hugging "
          "Face's TrainingArguments, "
          "Horovod's and NCCL's variables, arguments of Megatron-LM, nanotron's YAML, torchtitan's TOML; "
          "told apart by what they hold")
      ->required();
  show->add_option("--gpus", settings.gpus, "GPUs of the job, where batches depend on it")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  show->add_option("--format", settings.format, joined(names_of_rows(kSettingsFormats)))
      ->transform(one_of(names_of_rows(kSettingsFormats)))
      ->type_name("FORMAT")
      ->capture_default_str();
  show->add_option("-o,--output", settings.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  show->footer(
      "Examples:\n  foretrain job settings ds_config.json --gpus 8\n  foretrain job settings "
      "default_config.yaml");
  show->callback([&settings] { run_job_settings(settings); });
}

void add_job_check(CLI::App& command, JobCommand& job) {
  CLI::App* check =
      command.add_subcommand("check", "What is wrong with a job script, before it is submitted");
  check->add_option("FILE", job.file, "The script; it is only read, never run")->required();
  check
      ->add_option("--cluster", job.overrides.cluster,
                   "The cluster it is for, where the script leaves that open")
      ->type_name("NAME");
  add_model(*check, job.overrides, "The network it trains: then its time is predicted");
  add_recorded_program(*check, job.overrides);
  check->add_option("--set", job.overrides.settings, "Any key of the scenario, as in data.samples=1281167")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  check->add_flag("--strict", job.strict, "End with exit code 1 for warnings, too");
  CLI::Option* brief =
      check->add_flag("--brief", job.brief,
                      "At most three lines, and none where nothing is wrong: for filters at submission");
  check
      ->add_option("--options", job.options,
                   "Options of sbatch's command line, which come before the script's")
      ->needs(brief)
      ->type_name("TEXT");
  check->add_option("--format", job.format, joined(names_of_rows(kJobCheckFormats)))
      ->transform(one_of(names_of_rows(kJobCheckFormats)))
      ->type_name("FORMAT")
      ->capture_default_str();
  check->add_option("-o,--output", job.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  check->footer(
      "Exit code 1: the batch system would refuse it, it cannot start, or there is nothing to train on.\n\n"
      "Examples:\n  foretrain job check job.pbs --cluster polaris\n  foretrain job check job.sbatch --model "
      "resnet50 --set data.samples=1281167");
  check->callback([&job] { job.brief ? run_job_brief(job) : run_job_check(job); });
}

void add_job(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("job",
                                         "Look at a job: a script of Slurm, PBS, LSF, Grid Engine or Flux, a "
                                         "submit file, a manifest, a launch line");
  command->require_subcommand(1);
  JobCommand& job = options.job;
  CLI::App* show = command->add_subcommand(
      "show", "What was understood and in which line, the cluster, the scenario it becomes, mistakes");
  show->add_option("FILE", job.file, "The script; it is only read, never run")->required();
  show->add_option("--cluster", job.overrides.cluster,
                   "The cluster it is for, where the script leaves that open")
      ->type_name("NAME");
  add_model(*show, job.overrides, "The network it trains");
  add_recorded_program(*show, job.overrides);
  show->add_option("--format", job.format, joined(names_of_rows(kJobFormats)))
      ->transform(one_of(names_of_rows(kJobFormats)))
      ->type_name("FORMAT")
      ->capture_default_str();
  show->add_option("-o,--output", job.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  show->footer(
      "Examples:\n  foretrain job show job.sbatch\n  foretrain job show submit.sub --cluster chtc-2080ti "
      "--format json");
  show->callback([&job] { run_job_show(job); });
  add_job_check(*command, job);
  add_job_settings(*command, options.settings);
}

/// Returns a text about all commands. It builds a command line of its own, because one that has already
/// parsed would show the values it was given instead of the defaults.
std::string of_all_commands(const std::function<std::string(CLI::App&)>& text);

void add_reference(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand(
      "reference",
      "The reference pages, as they stand in docs/reference, the licences of others' software, the manual "
      "page");
  command->add_option("TOPIC", options.reference.topic, joined(reference_topics()))
      ->required()
      ->transform(one_of(reference_topics()));
  command->footer("Example:\n  foretrain reference scenario");
  command->callback([&options] {
    run_reference(options.reference, {of_all_commands(markdown_of), of_all_commands(manual_of)});
  });
}

void add_completion(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("completion", "A script that completes commands in your shell");
  command->add_option("SHELL", options.shell, joined(completed_shells()))
      ->required()
      ->transform(one_of(completed_shells()));
  command->footer(
      "Examples:\n  foretrain completion bash > ~/.local/share/bash-completion/completions/foretrain\n  "
      "foretrain completion zsh > ~/.zfunc/_foretrain\n  foretrain completion fish > "
      "~/.config/fish/completions/foretrain.fish");
  command->callback([&options] {
    write_output("", of_all_commands([&options](CLI::App& all) {
                   return completion_for(options.shell, completed_commands(all));
                 }));
  });
}

void add_help(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("help", "The help of a command");
  command->add_option("COMMAND", options.help, "As in topology show; otherwise of the program");
  command->footer("Example:\n  foretrain help topology show");
  const auto text = [&options](CLI::App& all) { return help_of(all, options.help); };
  command->callback([text] { write_output("", of_all_commands(text)); });
}

// Commands that the short help lists first; all others stand under "Tools".
constexpr std::array<std::string_view, 6> kMainCommands{"predict", "check", "compare",
                                                        "explain", "plan",  "serve"};

/// Declares every command on `app`. The order is that of the help.
void declare(CLI::App& app, Options& options) {
  add_help_all(app);
  app.set_version_flag("--version", version_text);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 ok, 1 wrong input, 2 wrong usage, 3 environment error (a file cannot be read or "
      "written), 130 interrupted.");
  add_predict(app, options.training);
  add_job_check(app, options.job);
  add_compare(app, options.training);
  add_plan(app, options.plan);
  add_sweep(app, options.sweep);
  add_tune(app, options.tune);
  add_collective(app, options.collective);
  add_list(app, options);
  add_topology(app, options.topology);
  add_model(app, options);
  add_record(app);
  add_trace(app, options.trace);
  add_validate(app, options.training);
  add_calibrate(app, options.calibrate);
  add_job(app, options);
  add_explain(app, options.explain);
  add_evidence(app, options.evidence), add_measured(app, options.measured);
  add_export(app, options.exported);
  add_paste(app, options.pasted);
  add_serve(app, options.serve);
  add_mcp(app, options.mcp);
  add_update_catalogs(app, options.catalogs);
  add_reference(app, options), add_completion(app, options), add_help(app, options);
  for (CLI::App* command : app.get_subcommands([](CLI::App*) { return true; }))
    if (std::ranges::find(kMainCommands, command->get_name()) == kMainCommands.end()) command->group("Tools");
  show_help_all_where_needed(app);
}

constexpr const char* kPurpose =
    "foretrain predicts how long a training epoch takes on N GPUs, and where more of them stop paying.";

std::string of_all_commands(const std::function<std::string(CLI::App&)>& text) {
  CLI::App app{kPurpose, "foretrain"};
  Options options;
  declare(app, options);
  return text(app);
}

/// Writes help and version to standard output, and mistakes to standard error. Returns the exit code.
int answer(const CLI::App& app, const CLI::ParseError& error) {
  std::ostringstream asked_for, none;
  const bool is_mistake = app.exit(error, asked_for, none) != 0;
  write_output("", asked_for.str());
  if (is_mistake) write_message(printable_lines(usage_mistake(app, error)));
  return is_mistake ? kUsageError : 0;
}

}  // namespace

std::vector<CompletedCommand> described_commands() {
  CLI::App app{kPurpose, "foretrain"};
  Options options;
  declare(app, options);
  return completed_commands(app);
}

namespace {

/// Returns true for an existing regular file.
bool is_file(const std::string& word) {
  std::error_code unknown;
  return std::filesystem::is_regular_file(word, unknown);
}

/// Returns true when the first word is no command, but an existing file or a word that can only mean a file.
bool begins_with_file(const CLI::App& app, const std::vector<std::string>& words) {
  if (words.empty() || words.front().starts_with('-')) return false;
  const std::string& word = words.front();
  const auto is_it = [&word](const CLI::App* command) { return command->get_name() == word; };
  if (!app.get_subcommands(is_it).empty()) return false;
  return is_file(word) || word.find_first_of("./") != std::string::npos;
}

/// Returns true for one file that is neither scenario, settings nor job script, but output of several tools.
bool is_pasted(const std::vector<std::string>& words) {
  const std::string& word = words.front();
  if (words.size() != 1 || !is_file(word) || word.ends_with(".toml")) return false;
  return is_pasted_file(word);
}

/// Inserts the command that `foretrain FILE…` leaves out: paste for output of several tools, else predict.
/// Returns the words with the last one first, as CLI11 takes them.
std::vector<std::string> with_command(const CLI::App& app, std::vector<std::string> words) {
  if (begins_with_file(app, words) && is_pasted(words)) {
    words.insert(words.begin(), "paste");
  } else if (begins_with_file(app, words)) {
    words.insert(words.begin(), "predict");
  }
  std::ranges::reverse(words);
  return words;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  CLI::App app{kPurpose, "foretrain"};
  Options options;
  declare(app, options);
  const PageOrigin made{command_text(argc, argv), "foretrain " FORETRAIN_VERSION, date_of_today()};
  options.training.predict.made = options.training.compare.made = options.training.validate.made = made;
  options.collective.made = options.plan.plan.made = made;
  try {
    if (argc < 2) throw CLI::CallForHelp();
    if (run_record_line(std::vector<std::string>{argv + 1, argv + argc})) return 0;
    app.parse(with_command(app, checked_words({argv + 1, argv + argc})));
  } catch (const CLI::ParseError& error) {
    return answer(app, error);
  }
  return 0;
}

}  // namespace foretrain

// Options of predict, compare and validate. Each add_ function declares one command; its callback runs it.
#include "sim/app/options/training_options.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/analysis/validation/error_groups.hpp"
#include "sim/analysis/validation/kernel_validation.hpp"
#include "sim/app/options/data_set_option.hpp"
#include "sim/app/options/evidence_options.hpp"
#include "sim/app/options/fine_tuning_options.hpp"
#include "sim/app/options/gpu_numbers.hpp"
#include "sim/app/options/named_files.hpp"
#include "sim/app/options/record_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/app/settings_files.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/catalog.hpp"
#include "sim/report/comparison/comparison_catalog.hpp"
#include "sim/report/validation/validation_catalog.hpp"
#include "sim/scenario/cluster_text.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Returns the number of GPUs of --break-even; 0 for "auto", which asks where more GPUs stop paying.
int parse_break_even(const std::string& text) {
  if (text.empty() || text == "auto") return 0;
  int value = 0;
  // "8x" is no number, though it begins with one.
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size() || value < 1)
    throw InputError(fmt::format("--break-even: \"{}\" is no number of GPUs", text.substr(0, 40)),
                     "as in --break-even 8; --break-even auto asks where more GPUs stop paying");
  return value;
}

/// Returns the scaling of a name that one_of() has accepted.
RequestedScaling scaling_named(std::string_view name) {
  if (name == "weak") return RequestedScaling::weak;
  return name == "strong" ? RequestedScaling::strong : RequestedScaling::both;
}

/// Adds an option that is short for a key of the scenario. `as_toml` is the format of its value.
void add_setting(CLI::App& command, ScenarioOverrides& overrides, const char* option, const char* key,
                 const char* as_toml, const char* meaning) {
  command
      .add_option_function<std::string>(
          option,
          [&overrides, option, key, as_toml](const std::string& value) {
            overrides.settings.push_back(
                fmt::format("{}={}", key, fmt::format(fmt::runtime(as_toml), value)));
            overrides.origins[overrides.settings.back()] = {fmt::format("{} {}", option, value)};
          },
          meaning)
      ->type_name("VALUE");
}

/// Adds the options that predict and compare share: what is trained, where, and with which settings.
void add_question(CLI::App& command, std::vector<std::string>& scenarios, ScenarioOverrides& overrides,
                  std::vector<std::string>& gpus, long long& batch, std::string& data_set,
                  std::vector<std::string>& settings_files) {
  command.add_option(
      "SCENARIO", scenarios,
      "A scenario file, the name of one in the catalog, or a job (script, submit file, manifest), "
      "or several; without one --model and "
      "--cluster are needed");
  command.add_option("--gpus", gpus, "Numbers of GPUs, as in 1,2,4 or 1-8 or 4-16:4")
      ->delimiter(',')
      ->type_name("LIST");
  add_model(command, overrides, kNamedModel);
  add_recorded_program(command, overrides);
  command.add_option("--cluster", overrides.cluster, "A cluster of the catalog or a file")->type_name("NAME");
  add_setting(
      command, overrides, "--partition", "cluster.partition", "\"{}\"",
      "Which nodes of a site with several kinds, as cluster.partition: a partition, kind or type of GPU");
  command
      .add_option("--batch", batch,
                  "Samples per GPU and step, of all GPUs where the scenario has a global batch")
      ->type_name("N");
  add_setting(command, overrides, "--precision", "model.precision", "\"{}\"",
              "fp32|tf32|amp_fp16|…, as model.precision");
  add_fine_tuning(command, overrides);
  command
      .add_option(
          "--dataset", data_set,
          "A data set of the catalog, as imagenet or cifar10; or your own, which is looked at and "
          "estimated: a folder with a file per sample, or a webdataset tar, HDF5, TFRecord or Parquet "
          "file")
      ->type_name("NAME");
  add_setting(command, overrides, "--epochs", "run.epochs", "{}", "Epochs of the run, as run.epochs");
  command
      .add_option(
          "--settings", settings_files,
          "Training settings of another tool, as DeepSpeed's JSON or accelerate's YAML (`job settings` "
          "lists which, and shows what they come to); they win over the scenario, --set wins over "
          "them; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  // Values are appended: binding the list itself would replace the settings of --precision and --epochs.
  command
      .add_option_function<std::vector<std::string>>(
          "--set",
          [&overrides](const std::vector<std::string>& given) {
            overrides.settings.insert(overrides.settings.end(), given.begin(), given.end());
          },
          "Any key of the scenario, as in strategy.bucket_cap=10MiB; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

/// Adds --format and -o, which every command with reports has.
void add_format(CLI::App& command, std::string& format, const std::vector<std::string>& names,
                std::string& output) {
  command.add_option("--format", format, joined(names))
      ->transform(one_of(names))
      ->type_name("FORMAT")
      ->capture_default_str();
  command.add_option("-o,--output", output, "Write to a file instead of standard output")->type_name("FILE");
}

void add_scaling(CLI::App& command, PredictCommand& predict) {
  command
      .add_option_function<std::string>(
          "--scaling", [&predict](const std::string& name) { predict.scaling = scaling_named(name); },
          "weak|strong|both: keep the batch of each GPU or that of all; by default as the scenario "
          "says. Its first number of GPUs "
          "(or the measured one) has the same batch in both")
      ->transform(one_of({"weak", "strong", "both"}))
      ->type_name("KIND");
}

/// Stores options that are only known when the whole line is parsed.
void take_question(const CLI::App& command, TrainingOptions& options) {
  ScenarioOverrides& overrides = options.predict.overrides;
  overrides.gpus = gpu_numbers(options.gpus);
  if (command.count("--batch") > 0) overrides.batch = options.batch;
  apply_data_set(options.data_set, overrides);
}

}  // namespace

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, "|")); }

// Groups of options: the question, evidence, reports and further files, what else to compute.
void add_predict(CLI::App& app, TrainingOptions& options) {
  CLI::App* command = app.add_subcommand(
      "predict", "How long a training takes on N GPUs, how much faster that is, and why not more");
  PredictCommand& predict = options.predict;
  add_question(*command, predict.scenarios, predict.overrides, options.gpus, options.batch, options.data_set,
               options.settings_files);
  add_gpu(*command, predict.overrides);
  command->add_option("--strategy", predict.overrides.strategy, joined(strategy_names()))->type_name("NAME");
  add_evidence_option(*command, predict.evidence);
  add_format(*command, predict.format, report_names(), predict.output);
  command->add_option("--html", predict.html, "Also write the report as a page: curves, a timeline, tables")
      ->type_name("FILE");
  command
      ->add_option("--trace", predict.trace,
                   "Also write the steps on the largest number of GPUs for Perfetto or chrome://tracing; "
                   "packed where the name ends in .gz")
      ->type_name("FILE");
  command->add_option("--trace-steps", predict.trace_steps, "The last so many steps of a trace")
      ->check(CLI::Range(1, 100))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--trace-ranks", predict.trace_ranks,
                   "Ranks of a trace, where they are not alike, the slowest first")
      ->check(CLI::Range(1, 64))
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option(
          "--program-out", predict.program_out,
          "Also write what each rank sends in a step on the largest number of GPUs, as a program file")
      ->type_name("FILE");
  add_scaling(*command, predict);
  command
      ->add_option("--break-even", options.break_even,
                   "Also the smallest batch, width and epoch for which N GPUs beat one, and the link speed "
                   "that changes it; auto: for the "
                   "first N that does not pay")
      ->type_name("N");
  command->add_flag(
      "--every-gpu", predict.every_gpu,
      "Let the crossover count every number of GPUs, also those that leave part of a node unused");
  command->add_flag("--limits", predict.limits,
                    "Also the largest batch, the longest samples and the smallest cards that fit");
  command->add_flag("--quiet", predict.quiet,
                    "The scaling table alone: no sentence above it and no notes below it");
  command
      ->add_option("--ignore", predict.ignored,
                   "Answer as if a setting that is not modelled were not there; may be repeated")
      ->type_name("KEY")
      ->allow_extra_args(false);
  command->add_flag("--details", predict.details,
                    "All tables instead of the answer: where a step goes, intervals, the crossover");
  command->add_flag("--explain", predict.explain, "Append what was decided and why");
  command->add_flag("--sensitivity", predict.sensitivity,
                    "Append which inputs the total on the largest number of GPUs depends on, and which "
                    "measurement would narrow it most");
  add_recommendation(*command, predict.recommendation, options.recommendation);
  command->footer(
      "Examples:\n  foretrain predict mahti-resnet50-ddp\n  foretrain predict --model resnet50 --cluster "
      "puhti --gpus 1,2,4,8\n  foretrain "
      "predict puhti-resnet50-ddp mahti-resnet50-ddp --gpus 1,4\n  foretrain predict workshop-mnist-study\n  "
      "foretrain predict my.toml "
      "--set strategy.bucket_cap=10MiB --format json -o my.json\n  foretrain predict mahti-resnet50-ddp "
      "--recommend --deadline 12h "
      "--sbatch "
      "job.sh\n  foretrain predict --model llama3_8b --adapters lora:16 --weights nf4 --gpu rtx-4090");
  command->callback([command, &options] {
    read_recommendation(options.recommendation, options.predict.recommendation);
    take_question(*command, options);
    sort_files(options.predict.scenarios, options.settings_files, options.predict.overrides);
    if (command->count("--break-even") > 0) options.predict.break_even = parse_break_even(options.break_even);
    apply_settings(options.settings_files, options.predict.overrides);
    run_predict(options.predict);
  });
}

// A parser of its own knows only options that are safe for a question from elsewhere.
PredictCommand predict_question(std::vector<std::string> arguments) {
  CLI::App app{"a question", "predict"};
  app.set_help_flag();
  TrainingOptions options;
  PredictCommand& predict = options.predict;
  add_question(app, predict.scenarios, predict.overrides, options.gpus, options.batch, options.data_set,
               options.settings_files);
  app.add_option("--strategy", predict.overrides.strategy);
  add_gpu(app, predict.overrides);
  add_scaling(app, predict);
  app.add_flag("--every-gpu", predict.every_gpu);
  add_evidence_option(app, predict.evidence);
  std::ranges::reverse(arguments);  // as CLI11 takes them
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    throw InputError(error.what(),
                     "a question takes the arguments of `foretrain predict`, without files to write");
  }
  if (!options.settings_files.empty())
    throw InputError("--settings names files of another machine", "say what they hold with --set");
  if (predict.scenarios.size() > 1 || predict.scaling == RequestedScaling::both)
    throw InputError("a question is about one scenario and one scaling", "ask again for the other");
  take_question(app, options);
  return std::move(predict);
}

// --models and --clusters select between three kinds of comparison; the command checks that they fit.
void add_compare(CLI::App& app, TrainingOptions& options) {
  CLI::App* command = app.add_subcommand(
      "compare", "The same training with several strategies, or on several machines, best first, and why");
  CompareCommand& compare = options.compare;
  add_question(*command, compare.scenarios, compare.overrides, options.compared_gpus, options.compared_batch,
               options.compared_data_set, options.compared_settings_files);
  add_evidence_option(*command, compare.evidence);
  command
      ->add_option("--strategies", compare.strategies,
                   joined(strategy_names()) +
                       "; with commas, or all; otherwise those that a script of the scenario's framework can "
                       "use as it is. Options in the scenario that a strategy does not have are left out for "
                       "it")
      ->delimiter(',')
      ->type_name("LIST");
  command
      ->add_option("--models", compare.models,
                   "Instead of a scenario: the best strategy for each of these models on each of --clusters")
      ->delimiter(',')
      ->type_name("LIST");
  command
      ->add_option(
          "--clusters", compare.clusters,
          "Which of these clusters to use for one training, on the numbers of --gpus; with --models: the "
          "best strategy on each, on the one number of --gpus")
      ->delimiter(',')
      ->type_name("LIST");
  command
      ->add_option("--gpu", compare.gpu_kinds,
                   "Which of these GPUs to use, as in v100-sxm2-32gb,a100-sxm4-40gb; each in a usual server")
      ->delimiter(',')
      ->type_name("LIST");
  add_machine_options(*command, options.machines);
  add_format(*command, compare.format, comparison_report_names(), compare.output);
  command->add_option("--html", compare.html, "Also write the strategies side by side as a page")
      ->type_name("FILE");
  command->add_flag("--quiet", compare.quiet, "A sentence for each number of GPUs, and no table");
  command->add_flag("--explain", compare.explain, "Append what was decided and why");
  command->footer(
      "Examples:\n  foretrain compare puhti-resnet50-ddp --gpus 4,8\n  foretrain compare puhti-resnet50-ddp "
      "mahti-resnet50-ddp --gpus 8\n  "
      "foretrain compare --model resnet50 --cluster puhti --strategies "
      "dp,ddp --gpus 1,4\n  foretrain compare --models resnet50,mnist_net --clusters puhti,mahti --gpus 4\n  "
      "foretrain compare "
      "m3-resnet56-mirrored-v100 --clusters m3-p100,m3-v100 --gpus 1,2");
  command->callback([command, &options] {
    options.compare.overrides.gpus = gpu_numbers(options.compared_gpus);
    options.compare.machines = read_machine_options(options.machines);
    if (command->count("--batch") > 0) options.compare.overrides.batch = options.compared_batch;
    apply_data_set(options.compared_data_set, options.compare.overrides);
    sort_files(options.compare.scenarios, options.compared_settings_files, options.compare.overrides);
    apply_settings(options.compared_settings_files, options.compare.overrides);
    run_compare(options.compare);
  });
}

// The kind of rows follows from the file's columns, so options that do not apply are refused later.
void add_validate(CLI::App& app, TrainingOptions& options) {
  CLI::App* command = app.add_subcommand("validate", "Predicted against measured, row by row");
  ValidateCommand& validate = options.validate;
  command
      ->add_option(
          "FILE", validate.file,
          "A CSV file of measured runs; its columns: "
          "series,model,cluster,strategy,precision,batch_per_gpu,gpus,nodes,metric,value,settings,source "
          "(training), series,cluster,op,gpus,nodes,bytes,time_us,settings,source (collectives) or "
          "op,shape,precision,gpu,time_us,kernel,source (kernels), or of large models with "
          "tp,pp,…,step_time_s "
          "(docs/measured/llm.csv)")
      ->required();
  command->add_flag(
      "--no-anchor", options.no_anchor,
      "Predict the smallest number of GPUs of each series too, instead of scaling the model to it");
  command
      ->add_option("--provenance", validate.provenance,
                   "Rules about what words in series and source tell of a run (docs/measured/rules.md); "
                   "without them both are only shown")
      ->type_name("FILE");
  command->add_option("--set", validate.settings, "A scenario key for every row; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--gpus", options.scored_gpus, "Only rows on so many GPUs, as in 1,2,4; anchors stay")
      ->delimiter(',')
      ->type_name("LIST");
  command
      ->add_option(
          "--by", validate.by,
          "Also errors by " + joined(error_group_keys()) +
              ", or by several of them, as in gpu,model; may be repeated for more tables; of kernels "
              "by " +
              joined(kernel_group_keys()))
      ->type_name("KEYS")
      ->allow_extra_args(false);
  command
      ->add_option("--worst", validate.worst,
                   "Show only so many rows, those that are furthest off, instead of every series")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  command
      ->add_option("--cluster-of", validate.cluster_of,
                   "Rows of large models: the cluster that rows of a GPU are predicted on, as GPU=CLUSTER")
      ->allow_extra_args(false);
  command
      ->add_option("--leave-out", validate.leave_out,
                   "Score each cluster, gpu or source with constants that were fitted again without its rows "
                   "(minutes)")
      ->transform(one_of({kLeftOutNames.begin(), kLeftOutNames.end()}))
      ->type_name("WHAT");
  command
      ->add_option("--with", validate.with,
                   "With --leave-out: a second file of the same kind, fitted to and scored as well")
      ->type_name("FILE");
  command
      ->add_option(
          "--format", validate.format,
          joined(names_of_rows(kValidationReports)) + "; cases: what each interval is a function of, as CSV")
      ->transform(one_of(names_of_rows(kValidationReports)))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_option("-o,--output", validate.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  command->add_flag("--quiet", validate.quiet, "The error statistics of the table alone");
  command->add_option("--html", validate.html, "Also write predicted against measured as a page")
      ->type_name("FILE");
  command->footer(
      "Examples:\n  foretrain validate measured.csv --format json\n  foretrain validate measured.csv "
      "--no-anchor --gpus 1 --by gpu --by "
      "model,precision\n  foretrain validate measured.csv --provenance rules.toml --worst 20\n  foretrain "
      "validate nccl.csv --leave-out cluster");
  command->callback([&options] {
    options.validate.anchor = !options.no_anchor;
    options.validate.gpus = gpu_numbers(options.scored_gpus);
    run_validate(options.validate);
  });
}

}  // namespace foretrain

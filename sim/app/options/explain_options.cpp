// Options of the command `explain`: the accounting's files, which of their jobs, and what the job trained.
#include "sim/app/options/explain_options.hpp"

#include <CLI/CLI.hpp>

#include "sim/app/options/named_files.hpp"
#include "sim/app/options/training_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/explanation/explanation_reports.hpp"

namespace foretrain {

namespace {

/// Adds what the job trained, with the options of predict.
void add_training_of_job(CLI::App& command, ExplainCommand& explain) {
  ScenarioOverrides& overrides = explain.overrides;
  command
      .add_option("--scenario", explain.scenario,
                  "What it trained: a scenario file, or the name of one in the catalog; a job script or a "
                  "scenario may also be one of the files")
      ->type_name("NAME");
  add_model(command, overrides, "The network it trained, where nothing else says it");
  command.add_option("--cluster", overrides.cluster, "The cluster it ran on, where nothing else says it")
      ->type_name("NAME");
  command
      .add_option_function<int>(
          "--gpus", [&overrides](int gpus) { overrides.gpus = {gpus}; },
          "Predict for so many GPUs, where the files do not say how many it had")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  command
      .add_option("--set", overrides.settings, "Any key of the scenario, as in run.epochs=3; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace

// Several files may describe one job, as sacct and jobstats know different things about it.
void add_explain(CLI::App& app, ExplainCommand& explain) {
  CLI::App* command = app.add_subcommand(
      "explain", "A finished job beside its prediction: where its time went, what the next should ask for");
  command
      ->add_option("FILE", explain.files,
                   "What the cluster says of the job: sacct --json, sacct -P, seff, jobstats, its JS1 "
                   "payload, scontrol show job, a table of GPU utilisation; -: standard input")
      ->required();
  command->add_option("--job", explain.job, "Which of several jobs, as in 123 or 123_4")->type_name("ID");
  add_training_of_job(*command, explain);
  const std::vector<std::string> formats = names_of_rows(kExplanationFormats);
  command->add_option("--format", explain.format, joined(formats))
      ->transform(one_of(formats))
      ->type_name("FORMAT")
      ->capture_default_str();
  command->add_option("-o,--output", explain.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  // The measured step goes into a store of evidence, after the report is printed.
  command->add_flag("--add", explain.add,
                    "Keep what the job measured of its step as evidence, which corrects the next prediction "
                    "(foretrain evidence)");
  command
      ->add_option("--store", explain.store,
                   "With --add: another store than your own (XDG_DATA_HOME/foretrain/evidence.csv)")
      ->type_name("FILE");
  command->footer(
      "Several files about one job are taken together.\n\n"
      "Examples:\n  jobstats 39798795 | foretrain explain -\n  foretrain explain sacct.json seff.txt\n  "
      "foretrain explain sacct.json job.sbatch --model resnet50 --set data.samples=1281167");
  // A store is only used with --add, so --store alone is a mistake.
  command->callback([&explain] {
    if (!explain.store.empty() && !explain.add) throw CLI::RequiresError("--store", "--add");
    run_explain(explain);
  });
}

}  // namespace foretrain

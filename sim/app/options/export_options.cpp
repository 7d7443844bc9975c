// Options of the command `export`: a scenario as predict takes it, on one number of GPUs, and the files to
// write.
#include "sim/app/options/export_options.hpp"

#include <CLI/CLI.hpp>

#include "sim/app/options/named_files.hpp"
#include "sim/app/options/record_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/app/settings_files.hpp"

namespace foretrain {

namespace {

/// Adds the training that is exported.
void add_exported_training(CLI::App& command, ExportOptions& options) {
  ScenarioOverrides& overrides = options.command.overrides;
  command.add_option(
      "SCENARIO", options.scenario,
      "A scenario file, the name of one in the catalog, or a job; without one --model and --cluster "
      "are needed");
  command.add_option("--gpus", options.gpus, "Number of GPUs; a rank each")
      ->check(CLI::Range(1, kMostExportedRanks))
      ->type_name("N");
  add_model(command, overrides, kNamedModel);
  add_recorded_program(command, overrides);
  command.add_option("--cluster", overrides.cluster, "A cluster of the catalog or a file")->type_name("NAME");
  command.add_option("--strategy", overrides.strategy, "As of predict, one with a process per GPU")
      ->type_name("NAME");
  command.add_option("--batch", options.batch, "As of predict")->type_name("N");
  command.add_option("--settings", options.settings_files, "As of predict")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command.add_option("--set", overrides.settings, "Any key of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

}  // namespace

// Files are always written; standard output only gets a summary.
void add_export(CLI::App& app, ExportOptions& options) {
  CLI::App* command =
      app.add_subcommand("export", "Planned steps as other simulators read them: Chakra traces, GOAL");
  command
      ->add_option(
          "FORMAT", options.command.format,
          "chakra: PREFIX.RANK.et for each rank, as ASTRA-sim reads them; goal: one text of all ranks, "
          "for LogGOPSim")
      ->required()
      ->transform(one_of({"chakra", "goal"}));
  add_exported_training(*command, options);
  command->add_option("--ranks", options.command.most_ranks, "Refuse more ranks than that")
      ->check(CLI::Range(1, kMostExportedRanks))
      ->type_name("N")
      ->capture_default_str();
  command->add_option("-o,--output", options.command.output, "The file, or of chakra the prefix of the files")
      ->required()
      ->type_name("PATH");
  command->footer(
      "What becomes of tasks and collectives: docs/models/networks.md\n\nExamples:\n  foretrain export "
      "chakra "
      "mahti-resnet50-ddp --gpus 8 -o resnet50\n  foretrain export goal --model resnet50 --cluster puhti "
      "--gpus 8 "
      "-o resnet50.goal");
  // Options that were not given must not override the scenario.
  command->callback([command, &options] {
    if (command->count("--gpus") > 0) options.command.overrides.gpus = {options.gpus};
    if (command->count("--batch") > 0) options.command.overrides.batch = options.batch;
    if (!options.scenario.empty()) options.command.scenarios = {options.scenario};
    sort_files(options.command.scenarios, options.settings_files, options.command.overrides);
    apply_settings(options.settings_files, options.command.overrides);
    run_export(options.command);
  });
}

}  // namespace foretrain

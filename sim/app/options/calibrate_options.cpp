// Options of the commands under `calibrate`: run, fit, show, samples, check and machine. Each function
// declares one command or a group of options that several commands share.
#include "sim/app/options/calibrate_options.hpp"

#include <memory>

#include <CLI/CLI.hpp>

#include "sim/app/machine/stages.hpp"
#include "sim/app/options/training_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/report/calibration/calibration_reports.hpp"

namespace foretrain {

namespace {

/// Adds the files of samples and logs, and options for facts that a log does not state.
void add_files(CLI::App& command, CalibrateCommand& calibrate) {
  command
      .add_option("FILE", calibrate.files,
                  "Samples of foretrain-bench, or logs that people have anyway: nccl-tests, nvbandwidth, "
                  "p2pBandwidthLatencyTest, bandwidthTest, "
                  "perftest, OSU, PARAM, training logs, nvidia-smi -q -x, both CSV kinds of validate; told "
                  "apart by what they hold")
      ->required();
  // Facts that many logs leave out. A log's own statement wins over these options.
  command.add_option("--op", calibrate.hints.op, "The collective of a log that does not say")
      ->type_name("OP");
  command.add_option("--gpus", calibrate.hints.gpus, "GPUs of a log that does not say")
      ->check(CLI::Range(1, 1'000'000))
      ->type_name("N");
  command.add_option("--nodes", calibrate.hints.nodes, "Nodes of a log that does not say")
      ->check(CLI::Range(1, 100'000))
      ->type_name("M");
  command.add_option("--model", calibrate.hints.model, "The network of a training log")->type_name("NAME");
  command.add_option("--strategy", calibrate.hints.strategy, "The strategy of a training log")
      ->type_name("NAME");
  command.add_option("--batch", calibrate.hints.batch_per_gpu, "The batch per GPU of a training log")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  command.add_option("--precision", calibrate.hints.precision, "The precision of a training log")
      ->type_name("NAME");
}

/// Adds --cluster with a description of what it means for the command.
void add_cluster(CLI::App& command, CalibrateCommand& calibrate, const std::string& what) {
  command.add_option("--cluster", calibrate.cluster, what)->type_name("NAME");
}

/// Adds --worst, the number of samples with the largest errors that the table lists.
void add_worst(CLI::App& command, CalibrateCommand& calibrate) {
  command.add_option("--worst", calibrate.worst, "List so many samples that are furthest off")
      ->check(CLI::Range(0, 100'000))
      ->type_name("N")
      ->capture_default_str();
}

/// Adds --format with the formats that the command has.
void add_format(CLI::App& command, CalibrateCommand& calibrate, std::vector<std::string> formats) {
  command.add_option("--format", calibrate.format, joined(formats))
      ->transform(one_of(formats))
      ->type_name("FORMAT");
}

/// Adds -o.
void add_output(CLI::App& command, CalibrateCommand& calibrate, const std::string& what) {
  command.add_option("-o,--output", calibrate.output, what)->type_name("FILE");
}

/// Adds `calibrate run`, which replaces this process by foretrain-bench and returns its exit code.
void add_run(CLI::App& calibrate_command, CalibrateCommand& calibrate) {
  CLI::App* run = calibrate_command.add_subcommand(
      "run", "Measure this machine: starts foretrain-bench, which needs a GPU, with all that follows");
  // Whatever follows belongs to foretrain-bench and is passed on unread.
  run->prefix_command();
  run->footer(
      "Examples:\n  foretrain calibrate run --budget 10m -o samples.csv\n  foretrain calibrate run "
      "--host-only -o samples.csv");
  run->callback([run, &calibrate] {
    calibrate.bench_arguments = run->remaining();
    run_calibrate_run(calibrate);
  });
}

/// Adds `calibrate machine`, which writes a folder with a cluster, samples, steps, a calibration and a
/// report.
void add_machine(CLI::App& calibrate_command) {
  CLI::App* machine = calibrate_command.add_subcommand(
      "machine", "Measure this machine, train on it, fit, and report predictions beside measurements");
  // The callback holds the values, so that they live as long as the parser.
  const auto command = std::make_shared<MeasureMachineCommand>();
  machine->add_option("--budget", command->budget, "How long it may take, as in 90s, 8m, 1h [8m]")
      ->type_name("TIME");
  machine->add_option("-o,--output", command->folder, "The folder of all results, made where it is not there")
      ->type_name("FOLDER")
      ->capture_default_str();
  machine->add_option("--device", command->device, "What trains: cuda or cpu [cuda]")
      ->transform(one_of({"cuda", "cpu"}))
      ->type_name("cuda|cpu");
  machine->add_option("--stages", command->stages, "Only these, separated by commas: " + joined_stage_names())
      ->delimiter(',')
      ->type_name("LIST");
  machine->add_option("--networks", command->networks, "Train only these, separated by commas")
      ->delimiter(',')
      ->type_name("LIST");
  // A run can be interrupted at any time (exit code 130) and continued in the same folder.
  machine->add_flag("--resume", command->resume, "Go on with the run that the folder holds");
  machine->add_flag("--dry-run", command->dry_run, "Say what would run, for how long, and what is missing");
  machine->footer(
      "The training steps need Python with PyTorch (FORETRAIN_PYTHON names another Python than python3).\n\n"
      "Examples:\n  foretrain calibrate machine --dry-run\n  foretrain calibrate machine --budget 8m -o "
      "mine\n  "
      "foretrain calibrate machine -o mine --resume");
  machine->callback([command] { run_calibrate_machine(*command); });
}

/// Adds `calibrate fit`, which writes a calibration file.
void add_fit(CLI::App& calibrate_command, CalibrateCommand& calibrate) {
  CLI::App* fit = calibrate_command.add_subcommand(
      "fit", "Fit the model's constants to samples and logs of one cluster: a calibration file");
  add_files(*fit, calibrate);
  // The samples are predicted on this cluster while constants are fitted.
  fit->add_option("--cluster", calibrate.cluster,
                  "The cluster they were measured on, of the catalog or a file")
      ->required()
      ->type_name("NAME");
  add_output(
      *fit, calibrate,
      "Write the calibration here, and what was fitted to standard output; otherwise the calibration alone");
  fit->add_option("--description", calibrate.description, "One line for the file")->type_name("TEXT");
  fit->add_option("--svg", calibrate.svg, "Also draw samples and fit here")->type_name("FILE");
  add_worst(*fit, calibrate);
  fit->footer(
      "Examples:\n  foretrain calibrate fit samples.csv --cluster mahti -o mahti-2026.toml\n  foretrain "
      "calibrate fit *.log --cluster "
      "./mycluster.toml -o mine.toml --svg fit.svg");
  fit->callback([&calibrate] { run_calibrate_fit(calibrate); });
}

/// Adds `calibrate show`, which prints a calibration of the catalog or a file.
void add_show(CLI::App& calibrate_command, CalibrateCommand& calibrate) {
  CLI::App* show = calibrate_command.add_subcommand(
      "show", "A calibration: its constants, its collectives, the samples that are furthest off");
  show->add_option("CALIBRATION", calibrate.files, "Of the catalog, or a file")->required()->expected(1);
  show->add_option("--svg", calibrate.svg, "Also draw samples and fit here")->type_name("FILE");
  add_worst(*show, calibrate);
  add_output(*show, calibrate, "Write to a file instead of standard output");
  show->footer("Examples:\n  foretrain calibrate show mahti-2026.toml --svg fit.svg");
  show->callback([&calibrate] { run_calibrate_show(calibrate); });
}

/// Adds `calibrate samples`, which prints what was read of logs.
void add_samples(CLI::App& calibrate_command, CalibrateCommand& calibrate) {
  CLI::App* samples =
      calibrate_command.add_subcommand("samples", "What is read out of logs, and every line that is not");
  add_files(*samples, calibrate);
  add_format(*samples, calibrate, {"table", "csv"});
  add_output(*samples, calibrate, "Write to a file instead of standard output");
  // CSV of this command can be corrected by hand and given to `fit`.
  samples->footer(
      "Examples:\n  foretrain calibrate samples all_reduce.log\n  foretrain calibrate samples *.log --format "
      "csv -o samples.csv");
  samples->callback([&calibrate] { run_calibrate_samples(calibrate); });
}

/// Adds `calibrate check`, which prints errors on samples that were held out, before and after a fit.
void add_check(CLI::App& calibrate_command, CalibrateCommand& calibrate) {
  CLI::App* check = calibrate_command.add_subcommand(
      "check", "Fit on a part of the samples, predict the rest: held-out error before and after");
  add_files(*check, calibrate);
  add_cluster(*check, calibrate, "The cluster they were measured on, where they do not say");
  check
      ->add_option_function<std::string>(
          "--hold-out",
          [&calibrate](const std::string& name) {
            // The transform below admits no other name, so the last case is "sizes".
            calibrate.hold_out = name == "nodes"  ? HoldOut::nodes
                                 : name == "gpus" ? HoldOut::gpus
                                                  : HoldOut::sizes;
          },
          "What is held out: sizes (every second one), nodes or gpus (all jobs larger than the smallest). "
          "Default sizes")
      ->transform(one_of({"sizes", "nodes", "gpus"}))
      ->type_name("sizes|nodes|gpus");
  add_format(*check, calibrate, names_of_rows(kCheckFormats));
  add_output(*check, calibrate, "Write to a file instead of standard output");
  check->footer(
      "Examples:\n  foretrain calibrate check all_reduce.log --cluster mahti\n  foretrain calibrate check "
      "measured.csv --hold-out nodes");
  check->callback([&calibrate] { run_calibrate_check(calibrate); });
}

}  // namespace

// The commands share one struct, as only one of them is called; calibrate machine has its own.
void add_calibrate(CLI::App& app, CalibrateCommand& calibrate) {
  CLI::App* command = app.add_subcommand(
      "calibrate", "Measure a cluster, and put what was measured in the place of defaults");
  command->require_subcommand(1);
  add_run(*command, calibrate);
  add_fit(*command, calibrate);
  add_show(*command, calibrate);
  add_samples(*command, calibrate);
  add_check(*command, calibrate);
  add_machine(*command);
}

}  // namespace foretrain

// Options of `evidence` and its subcommands, of the command that records a measured step, and of --evidence.
#include "sim/app/options/evidence_options.hpp"

#include <CLI/CLI.hpp>

#include "sim/analysis/evidence/field_scores.hpp"
#include "sim/app/options/gpu_numbers.hpp"
#include "sim/app/options/named_files.hpp"
#include "sim/app/options/training_options.hpp"
#include "sim/app/options/usage.hpp"
#include "sim/base/named_rows.hpp"

namespace foretrain {

namespace {

// Names for --of and --leave-out, in the order of their enums.
std::vector<std::string> observed_names() { return {kObservedNames.begin(), kObservedNames.end()}; }
std::vector<std::string> held_out_names() { return {kFieldLeftOutNames.begin(), kFieldLeftOutNames.end()}; }

/// Adds --store to commands that change a store or copy it.
void add_store(CLI::App& command, EvidenceCommand& evidence) {
  command
      .add_option("--store", evidence.store,
                  "Another store than your own (XDG_DATA_HOME/foretrain/evidence.csv)")
      ->type_name("FILE");
}

/// Adds --store to commands that only read; without it they read all stores.
void add_shown_store(CLI::App& command, EvidenceCommand& evidence) {
  command.add_option("--store", evidence.store, "This store alone, instead of all that predictions use")
      ->type_name("FILE");
}

/// Adds `evidence add`, which prints how many rows were stored and which were left out.
void add_add(CLI::App& parent, EvidenceCommand& evidence) {
  CLI::App* command = parent.add_subcommand("add", "Predict measured rows and keep both in a store");
  command
      ->add_option("FILE", evidence.files,
                   "Training runs or collectives as `validate` reads them, or another store")
      ->required();
  add_store(*command, evidence);
  command
      ->add_option("--source", evidence.source,
                   "Whose rows they are: \"own\" are yours; \"each\": what each row's source names first")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--provenance", evidence.provenance, "As of validate")->type_name("FILE");
  command->footer("Example:\n  foretrain evidence add my_runs.csv");
  command->callback([&evidence] { run_evidence_add(evidence); });
}

/// Adds `list`, `show` and `report`, which print tables and change nothing.
void add_readers(CLI::App& parent, EvidenceCommand& evidence) {
  CLI::App* list = parent.add_subcommand("list", "What there is, by source");
  add_shown_store(*list, evidence);
  list->callback([&evidence] { run_evidence_list(evidence); });
  CLI::App* show = parent.add_subcommand("show", "Rows with a word in a name of theirs");
  show->add_option("WORD", evidence.word, "Of a run, source, network, GPU, cluster or operation")->required();
  add_shown_store(*show, evidence);
  show->callback([&evidence] { run_evidence_show(evidence); });
  CLI::App* report = parent.add_subcommand(
      "report", "For a machine's staff: where its predictions are worst, and which runs would tell most");
  report->add_option("--cluster", evidence.cluster, "The machine")->required()->type_name("NAME");
  add_shown_store(*report, evidence);
  report->callback([&evidence] { run_evidence_report(evidence); });
}

/// Adds `learn`, which prints the error after 0, 1, 3, 10 and 30 jobs of a machine's user.
void add_learn(CLI::App& parent, EvidenceCommand& evidence) {
  CLI::App* learn = parent.add_subcommand(
      "learn", "How predictions of a machine get better with each job of its user: its rows one by one");
  learn->add_option("--cluster", evidence.cluster, "The machine")->required()->type_name("NAME");
  learn->add_option("-o,--output", evidence.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  learn->add_option("--svg", evidence.svg, "Also draw it")->type_name("FILE");
  add_shown_store(*learn, evidence);
  learn->callback([&evidence] { run_evidence_learn(evidence); });
}

/// Adds `score`, which prints errors of raw and corrected predictions with rows of the same kind held out.
void add_score(CLI::App& parent, EvidenceCommand& evidence) {
  CLI::App* score = parent.add_subcommand(
      "score", "What the evidence is worth: its rows predicted raw and corrected, without their own kind");
  score->add_option("--of", evidence.of, joined(observed_names()))
      ->transform(one_of(observed_names()))
      ->capture_default_str();
  score->add_option("--leave-out", evidence.leave_out, joined(held_out_names()))
      ->transform(one_of(held_out_names()))
      ->capture_default_str();
  add_shown_store(*score, evidence);
  score->callback([&evidence] { run_evidence_score(evidence); });
}

/// Adds `remove` and `undo`. Exactly one of names, --matching and --all must say which rows leave.
void add_removal(CLI::App& parent, EvidenceCommand& evidence) {
  CLI::App* remove = parent.add_subcommand("remove", "Take rows out of a store, until `evidence undo`");
  CLI::Option* runs =
      remove->add_option("SERIES", evidence.runs, "Whole names of series, or of jobs as \"job 17\"");
  CLI::Option* matching =
      remove
          ->add_option("--matching", evidence.matching,
                       "Rows with this text in a name: of series, source, network, GPU, cluster or operation")
          ->type_name("TEXT")
          ->excludes(runs);
  remove->add_flag("--all", evidence.all, "Every row")->excludes(runs)->excludes(matching);
  remove->add_flag("--dry-run", evidence.dry_run, "Only print which rows these are");
  add_store(*remove, evidence);
  remove->footer("Example:\n  foretrain evidence remove monday tuesday");
  remove->callback([&evidence] {
    if (evidence.runs.empty() && evidence.matching.empty() && !evidence.all)
      throw CLI::RequiredError("one of SERIES, --matching and --all");
    run_evidence_remove(evidence);
  });
  CLI::App* undo = parent.add_subcommand("undo", "Put back what the last `evidence remove` took out");
  add_store(*undo, evidence);
  undo->callback([&evidence] { run_evidence_undo(evidence); });
}

/// Adds `export`, which writes a store with every row under one source.
void add_writers(CLI::App& parent, EvidenceCommand& evidence) {
  CLI::App* exported = parent.add_subcommand("export", "A store as a file for others, under a name of yours");
  exported->add_option("--source", evidence.source, "The name")->required()->type_name("NAME");
  exported->add_option("-o,--output", evidence.output, "Write to a file instead of standard output")
      ->type_name("FILE");
  add_store(*exported, evidence);
  exported->callback([&evidence] { run_evidence_export(evidence); });
}

}  // namespace

// Commands that read print tables; commands that write lock the store while they change it.
void add_evidence(CLI::App& app, EvidenceCommand& evidence) {
  CLI::App* command =
      app.add_subcommand("evidence", "Measured runs that correct predictions: add, look at, remove, share");
  command->require_subcommand(1);
  add_add(*command, evidence);
  add_readers(*command, evidence);
  add_learn(*command, evidence);
  add_score(*command, evidence);
  add_removal(*command, evidence);
  add_writers(*command, evidence);
  command->footer(
      "Examples:\n  foretrain evidence add my_runs.csv\n  foretrain evidence list\n  foretrain evidence "
      "report "
      "--cluster puhti");
}

// The command prints what was stored and a warning when the value is far from the prediction.
void add_measured(CLI::App& app, MeasuredOptions& options) {
  CLI::App* parent = app.add_subcommand(
      "measured", "What a run of yours measured: the next prediction of its training is calibrated to it");
  parent->require_subcommand(1);
  CLI::App* command = parent->add_subcommand("add", "Keep a measured step in your own store of evidence");
  MeasuredCommand& measured = options.measured;
  command
      ->add_option(
          "VALUE", measured.value,
          "Samples per second of all GPUs, as in 326/s, a step's time, as in 98ms, a line of a log, or "
          "a file with such lines: their median counts")
      ->required();
  command->add_option("SCENARIO", measured.scenario,
                      "As of predict: what trained; without one --model and --cluster are needed");
  command->add_option("--gpus", options.gpus, "On how many GPUs it was measured")
      ->delimiter(',')
      ->type_name("N")
      ->required();
  ScenarioOverrides& overrides = measured.overrides;
  add_model(*command, overrides, kNamedModel);
  command->add_option("--cluster", overrides.cluster, "A cluster of the catalog or a file")
      ->type_name("NAME");
  command->add_option("--strategy", overrides.strategy, "As of predict")->type_name("NAME");
  command->add_option("--batch", options.batch, "Samples per GPU and step")->type_name("N");
  command->add_option("--set", overrides.settings, "Any key of the scenario; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--sequence", measured.tokens_per_sample, "Tokens of a sample, for a rate of tokens")
      ->check(CLI::Range(1, 10'000'000))
      ->type_name("N");
  command->add_option("--store", measured.store, "Another store than your own")->type_name("FILE");
  command->footer(
      "Examples:\n  foretrain measured add 326/s train.sbatch --gpus 1\n  foretrain measured add train.log "
      "train.sbatch --gpus 4\n  foretrain measured add 98ms "
      "--model "
      "resnet50 --cluster puhti --gpus 1");
  command->callback([command, &options] {
    options.measured.overrides.gpus = gpu_numbers(options.gpus);
    if (command->count("--batch") > 0) options.measured.overrides.batch = options.batch;
    run_measured_add(options.measured);
  });
}

/// Adds --evidence to a command that predicts.
void add_evidence_option(CLI::App& command, std::string& evidence) {
  command
      .add_option("--evidence", evidence,
                  "off: as simulated; a file: this store of measured runs alone; by default what comes with "
                  "the program, the site's and your own")
      ->type_name("off|FILE");
}

}  // namespace foretrain

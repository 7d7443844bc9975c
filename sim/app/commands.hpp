// The commands of the program: a struct with the values of each command's options, and the function that runs
// it. Functions throw InputError for wrong input (exit code 1) and EnvironmentError for I/O (exit code 3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/advice/recommendation.hpp"
#include "sim/analysis/fit/calibration_check.hpp"
#include "sim/analysis/search/machines.hpp"
#include "sim/app/machine/topology_commands.hpp"
#include "sim/import/logs/log_hints.hpp"
#include "sim/import/machines/machine_cluster.hpp"
#include "sim/import/models/model_file.hpp"
#include "sim/report/model/model_catalog.hpp"
#include "sim/report/page/page.hpp"
#include "sim/scenario/new_cluster.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Options of predict that ask for a batch job.
struct RecommendationOptions {
  bool recommend = false;
  RecommendationRequest request;
  std::string sbatch, condor;  ///< files for the job's script; empty: none
  /// File for the job's script in the cluster's own batch system; empty: none.
  std::string job_script;
  /// Batch system of `job_script` instead of the cluster's own.
  std::string job_system;
  bool is_wanted() const { return !given_as().empty(); }
  /// Returns the option that asks for a job; empty: none does.
  std::string_view given_as() const {
    if (recommend) return "--recommend";
    if (!sbatch.empty()) return "--sbatch";
    if (!condor.empty()) return "--condor";
    return job_script.empty() ? "" : "--job-script";
  }
};

/// Scaling that predict shows. `both` adds the scaling that the scenario does not have.
enum class RequestedScaling : std::uint8_t { of_scenario, weak, strong, both };

/// Arguments of `foretrain predict` as the command line gives them, before any file is read.
struct PredictCommand {
  /// Files or names of the catalog. When empty, model and cluster come from the overrides.
  std::vector<std::string> scenarios;
  ScenarioOverrides overrides;
  std::string format = "table";
  std::string output;  ///< file; empty = standard output
  std::string html;    ///< also write the page here
  /// Command line, version and date that the page states.
  PageOrigin made{};
  std::string trace;  ///< also write the largest run's steps here
  /// Upper limits of ranks and steps in the trace.
  int trace_ranks = 4, trace_steps = 3;
  std::string program_out;  ///< also write what its ranks send here
  /// Prints the table alone, without answer and notes.
  bool quiet = false;
  /// Prints all tables instead of the answer alone.
  bool details = false;
  std::vector<std::string> ignored;  ///< settings that are not modelled, to be answered as if not there
  bool explain = false;
  RequestedScaling scaling = RequestedScaling::of_scenario;
  /// Number of GPUs whose break-even is asked for; 0: the number from which more GPUs stop paying.
  std::optional<int> break_even{};
  bool sensitivity = false;
  bool every_gpu = false;
  bool limits = false;
  /// "off", the file of a store, or empty for all stores.
  std::string evidence;
  RecommendationOptions recommendation{};
};
void run_predict(const PredictCommand& command);  // predict.cpp

/// Arguments of `foretrain compare`.
struct CompareCommand {
  std::vector<std::string> scenarios;  ///< as of predict
  ScenarioOverrides overrides;
  std::vector<std::string> strategies;        ///< empty: all
  std::vector<std::string> models, clusters;  ///< of the table of best strategies, instead of a scenario
  /// GPUs, each of which is compared in a usual server of it.
  std::vector<std::string> gpu_kinds;
  /// Deadline and prices, when several clusters are compared for one training.
  MachinesRequest machines{};
  std::string format = "table";
  std::string output;  ///< file; empty = standard output
  std::string html;    ///< also write the page here
  PageOrigin made{};
  bool quiet = false;    ///< the verdicts alone
  std::string evidence;  ///< as of predict
  bool explain = false;
};
void run_compare(const CompareCommand& command);  // compare.cpp

/// Arguments of `foretrain plan`.
struct PlanCommand {
  std::string scenario;  ///< a file or a catalog name; empty: model and cluster come from the overrides
  ScenarioOverrides overrides;
  std::vector<int> gpus, nodes;  ///< numbers to plan for: one of both
  std::string global_batch;      ///< "1024", "4M-tokens"; empty: the scenario's, or one million tokens
  int top = 10;
  RecommendationOptions scripts{};  ///< its files alone
  std::string format = "table";
  std::string output;  ///< file; empty = standard output
  std::string html;    ///< also write the page here
  PageOrigin made{};
};
void run_plan(const PlanCommand& command);  // plan.cpp

/// Arguments of `foretrain tune`.
struct TuneCommand {
  std::string scenario;  ///< a file or a catalog name
  /// Changes to the scenario, and its number of GPUs when the search does not vary it.
  ScenarioOverrides overrides;
  std::vector<std::string> over, axes, where;  ///< as of tuned_sweep()
  std::string goal;  ///< a name of kTuneGoals; empty: the run, or samples per second
  /// Number of successive searches without improvement after which the search ends.
  int searches = 8;
  /// Largest number of predictions.
  std::int64_t most = 5000;
  std::int64_t seed = 1;
  std::string format = "table";
  std::string output;    ///< file; empty = standard output
  std::string evidence;  ///< as of predict
};
void run_tune(const TuneCommand& command);  // tune.cpp

/// Number of processes that launch the kernels of a node's GPUs.
enum class LaunchProcesses : std::uint8_t { one, per_gpu };

/// Arguments of `foretrain collective`; sizes and operations are spelled as in nccl-tests.
struct CollectiveCommand {
  std::string cluster, op;
  int gpus = 0;
  int nodes = 0;  ///< 0: as few as hold the GPUs
  std::string sizes = "8:128M:2";
  std::string algorithm, protocol;  ///< empty: NCCL's choice
  std::optional<int> channels;
  std::string transport = "nccl";
  std::string fidelity = "flow";
  std::optional<LaunchProcesses> launch_processes{};  ///< none: by the number of nodes
  std::vector<std::string> settings;
  std::string format = "nccl-tests";
  std::string output;  ///< file; empty = standard output
  std::string svg;     ///< also draw the curve here
  /// File of measured rows that are drawn over the curve.
  std::string measured;
  std::string html;      ///< also write the page here
  std::string evidence;  ///< as of predict
  PageOrigin made{};
  /// Predicts one isolated call instead of the average of the loop in nccl-tests.
  bool single = false;
  bool quiet = false;  ///< the rows alone
  bool explain = false;
  bool is_nccl() const { return transport == "nccl"; }
};
void run_collective(const CollectiveCommand& command);  // collective.cpp

/// Arguments of `foretrain list`.
struct ListCommand {
  std::string what;
  std::string word;  ///< only entries that have it; empty: all
  bool only_names = false;
};
/// Returns the names of the lists that `list` can show.
const std::vector<std::string>& listable();  // pages/listing.cpp
void run_list(const ListCommand& command);   // list.cpp

/// Arguments of `foretrain serve`, the web page on this machine.
struct ServeCommand {
  /// Port; 0: any free one; none: 8080, or any free one when 8080 is taken.
  std::optional<int> port{};
  /// Lets every user of this machine ask, without a token in the address.
  bool no_token = false;
};
void run_serve(const ServeCommand& command);  // serve.cpp

/// Arguments of `foretrain mcp`, which offers commands to coding assistants over standard input and output.
struct McpCommand {
  std::vector<std::string> folders;  ///< whose files may be read, besides the catalogs
};
/// Serves requests until standard input ends.
void run_mcp(const McpCommand& command);  // mcp/mcp.cpp

/// Arguments of `foretrain record`: options of the recorder and the command that it starts.
struct RecordCommand {
  std::vector<std::string> words;  ///< everything behind `record`
};
/// Replaces this process by `python3 -m foretrain record`. Throws EnvironmentError when Python or the package
/// is missing.
void run_record(const RecordCommand& command);  // record.cpp

/// Returns what `topology show --channels` prints: the rings and trees that NCCL builds.
std::string describe_channels(const TopologyCommand& command);  // topology_draw.cpp

/// Arguments of `foretrain model show`.
struct ModelCommand {
  std::string model;
  std::string cluster, gpu;  ///< both empty: no times
  std::optional<std::int64_t> batch;
  std::string precision;  ///< empty: the default
  std::vector<std::string> settings;
  LayerListing layers = LayerListing::folded;
  std::string format = "table";
  std::string output;  ///< file; empty = standard output
};
void run_model_show(const ModelCommand& command);  // model.cpp

/// Arguments of `foretrain model import`.
struct ImportModelCommand {
  std::string file;
  ModelImportOptions options;
  std::string output;  ///< empty: standard output
};
void run_model_import(const ImportModelCommand& command);  // model_import.cpp

/// Arguments of `foretrain trace show` and `trace diff`.
struct TraceCommand {
  std::vector<std::string> files;
  std::string scenario;         ///< diff: a file or a name of the catalog; empty: the overrides say it
  ScenarioOverrides overrides;  ///< of diff
  std::string format = "table";
  std::string output;  ///< file; empty = standard output
};
void run_trace_show(const TraceCommand& command);  // trace.cpp
void run_trace_diff(const TraceCommand& command);  // trace_diff.cpp

/// Arguments of `foretrain validate`.
struct ValidateCommand {
  std::string file;
  std::string provenance;  ///< file of rules about series and sources; empty: none
  bool anchor = true;
  std::vector<std::string> settings;
  std::vector<int> gpus;        ///< only rows on so many GPUs; empty: all
  std::vector<std::string> by;  ///< keys of group_errors() with commas, one table each
  int worst = 0;                ///< only so many rows, the worst; 0: every series
  /// "cluster", "gpu" or "source": each group is predicted with constants fitted without it; empty: no such
  /// score.
  std::string leave_out;
  std::vector<std::string> cluster_of;  ///< "GPU=CLUSTER", for rows of large models
  /// A second file of the same kind, whose rows are scored together with the first's; empty: none.
  std::string with;
  std::string format = "table";
  bool quiet = false;  ///< the statistics alone
  std::string output;
  std::string html;  ///< also write the page here
  PageOrigin made{};
};
void run_validate(const ValidateCommand& command);  // validate.cpp

/// Arguments of `foretrain calibrate fit`, `samples` and `show`.
struct CalibrateCommand {
  std::vector<std::string> files;  ///< logs and samples; of show: the calibration
  std::string cluster;
  LogHints hints;
  HoldOut hold_out = HoldOut::sizes;
  std::string description;
  std::string format = "table";
  std::string output;  ///< file; empty = standard output
  std::string svg;     ///< also draw here
  int worst = 10;
  std::vector<std::string> bench_arguments;
};
void run_calibrate_run(
    const CalibrateCommand& command);  // calibrate_run.cpp; does not return when it succeeds
void run_calibrate_fit(const CalibrateCommand& command);      // calibrate.cpp
void run_calibrate_show(const CalibrateCommand& command);     // calibrate.cpp
void run_calibrate_samples(const CalibrateCommand& command);  // calibrate.cpp
void run_calibrate_check(const CalibrateCommand& command);    // calibrate.cpp

/// Arguments of `foretrain calibrate machine`.
struct MeasureMachineCommand {
  std::string folder = "foretrain-machine";
  /// Time limit such as 8m; none: 8 minutes, or that of the resumed run.
  std::optional<std::string> budget{};
  std::optional<std::string> device{};  ///< "cuda" or "cpu"; none: cuda, or that of the run
  std::vector<std::string> stages{};    ///< only these; empty: all
  std::vector<std::string> networks{};  ///< only these; empty: all
  bool dry_run = false, resume = false;
};
void run_calibrate_machine(const MeasureMachineCommand& command);  // machine/calibrate_machine.cpp

/// Arguments of `foretrain job show` and `job check`.
struct JobCommand {
  std::string file;
  bool strict = false;          ///< of `job check`: warnings end it with exit code 1, too
  bool brief = false;           ///< of `job check`: at most three lines, nothing predicted
  std::string options;          ///< of sbatch's command line: they come before the script's directives
  ScenarioOverrides overrides;  ///< model and cluster, where the script does not say
  std::string format = "table";
  std::string output;  ///< file; empty = standard output
};
void run_job_show(const JobCommand& command);   // job.cpp
void run_job_check(const JobCommand& command);  // job.cpp
void run_job_brief(const JobCommand& command);  // job.cpp

/// Arguments of `foretrain settings`.
struct SettingsCommand {
  std::vector<std::string> files;
  int gpus = 0;  ///< of the job; 0: not known
  std::string format = "table";
  std::string output;  ///< file; empty = standard output
};
void run_job_settings(const SettingsCommand& command);  // job.cpp

/// Arguments of `foretrain explain`.
struct ExplainCommand {
  std::vector<std::string> files;  ///< of the accounting; a scenario or a job script may be among them
  std::string scenario;            ///< a file or a catalog name; empty: none, or one of the files
  std::string job;                 ///< id of one of several jobs; empty: all
  ScenarioOverrides overrides;
  std::string format = "table";
  std::string output;  ///< file; empty = standard output
  bool add = false;    ///< keep what the job measured
  std::string store;   ///< where; empty: one's own
};
void run_explain(const ExplainCommand& command);  // explain.cpp

/// Largest number of ranks that export can write, and the limit when --ranks is not given.
inline constexpr int kMostExportedRanks = 4096, kUsualExportedRanks = 1024;

/// Arguments of `foretrain export`.
struct ExportCommand {
  std::string format;                  ///< chakra, goal
  std::vector<std::string> scenarios;  ///< one, or none
  ScenarioOverrides overrides;
  int most_ranks = kUsualExportedRanks;
  std::string output;  ///< file, or prefix of files
};
void run_export(const ExportCommand& command);  // export.cpp

/// Arguments of `foretrain evidence` and its subcommands.
struct EvidenceCommand {
  std::vector<std::string> files;  ///< of add
  std::string store;               ///< empty: the user's own; of what only reads: all
  /// Source that added and exported rows are attributed to.
  std::string source = "own";
  std::string provenance;            ///< of add
  std::string word;                  ///< of show
  std::vector<std::string> runs;     ///< of remove: names of series or jobs, whole
  std::string matching;              ///< of remove: rows with this in a name
  bool all = false;                  ///< of remove: every row
  bool dry_run = false;              ///< of remove: only say which rows
  std::string cluster;               ///< of report
  std::string of = "step";           ///< of score
  std::string leave_out = "source";  ///< of score
  std::string output;                ///< of export and learn; empty: standard output
  std::string svg;                   ///< of learn; empty: nothing is drawn
};

/// Arguments of the command that records a measured rate or step time in a store of evidence.
struct MeasuredCommand {
  std::string value;            ///< "326/s", "98ms", a line of a log, or a file of a log
  int tokens_per_sample = 0;    ///< of a rate in tokens; 0: not said
  std::string scenario;         ///< as of predict; empty: model and cluster come from the overrides
  ScenarioOverrides overrides;  ///< with one number of GPUs
  std::string store;            ///< empty: the user's own
};
void run_measured_add(const MeasuredCommand& command);  // measured_step.cpp

void run_evidence_add(const EvidenceCommand& command);     // evidence.cpp
void run_evidence_list(const EvidenceCommand& command);    // evidence.cpp
void run_evidence_show(const EvidenceCommand& command);    // evidence.cpp
void run_evidence_learn(const EvidenceCommand& command);   // evidence.cpp
void run_evidence_score(const EvidenceCommand& command);   // evidence.cpp
void run_evidence_report(const EvidenceCommand& command);  // evidence.cpp
void run_evidence_remove(const EvidenceCommand& command);  // removal.cpp
void run_evidence_undo(const EvidenceCommand& command);    // removal.cpp
void run_evidence_export(const EvidenceCommand& command);  // evidence.cpp

/// Arguments of `foretrain reference`, which prints a reference page.
struct ReferenceCommand {
  std::string topic;
};
/// Pages that only the command line can write, because they list its commands.
struct CommandTexts {
  std::string markdown, manual;
};
/// Topics of the reference; all but the licences and the manual page are files docs/reference/TOPIC.md.
const std::vector<std::string>& reference_topics();
void run_reference(const ReferenceCommand& command, const CommandTexts& texts);  // pages/reference.cpp

}  // namespace foretrain

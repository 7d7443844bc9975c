// One question: network, cluster, strategy and numbers of GPUs.
//
// A Scenario is the value between reading and predicting. Readers fill it from a TOML text, command-line
// options and catalogs. Planning, simulation, search and reports take it by const reference, and
// variation.hpp copies it for questions that differ in one thing. Reading resolves every name, checks every
// value and collects all mistakes before it throws, so later stages need not check the question again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/units.hpp"
#include "sim/cluster/hardware.hpp"
#include "sim/cluster/placement.hpp"
#include "sim/collective/settings.hpp"
#include "sim/scenario/launch.hpp"
#include "sim/scenario/study.hpp"
#include "sim/strategy/parallel/job.hpp"
#include "sim/strategy/strategy.hpp"
#include "sim/workload/layers/layer.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// The part of the model that a measurement corrects: kernel times, host times, or the input pipeline.
enum class AnchorSide : std::uint8_t { compute, host, input };

struct Scenario;
class ProgramReplays;

/// A measured step time to which the model is scaled.
struct Anchor {
  int gpus = 1;
  /// Measured seconds of a step.
  double step_s = 0;
  /// The part to be scaled; by default the one that bounds the step.
  std::optional<AnchorSide> scales{};
  /// The measured run loaded one batch and trained on it again and again.
  bool reused_batch = false;
  /// The run that was measured; nullptr: the scenario itself.
  std::shared_ptr<const Scenario> job{};
};

/// Work that recurs every `every_epochs` epochs. Its length is `duration`; or else that of a pass over
/// `samples` (validation); or else that of writing the weights and the optimizer's state from one rank at
/// `bandwidth` (checkpoint).
struct Periodic {
  /// "validation" or "checkpoint".
  std::string name;
  double every_epochs = 1;
  std::optional<Time> duration{};
  std::int64_t samples = 0;
  /// Batch of the pass; 0 = that of the training.
  std::int64_t batch_per_gpu = 0;
  ByteRate bandwidth{};
};

/// The batch of a GPU on nodes of one kind.
struct KindBatch {
  std::string kind;
  std::int64_t batch = 0;
  SourceSpan span{};
};

/// A setting that decides memory, time or messages and that the model does not have. No answer holds with it.
struct UnmodelledSetting {
  /// The setting, for example "zero_optimization.offload_param.device = nvme".
  std::string setting;
  /// Its place, for example "ds_config.json:12".
  std::string place;
  /// Its effect in one sentence, with direction and size if they are known.
  std::string effect;
  bool decides_memory = false, decides_time = false;
  /// It matters only for jobs on several nodes.
  bool between_nodes = false;
  /// Range of the step's time with the setting, divided by the time without it.
  double shortest = 1, longest = 1;
  bool matters_on(int nodes) const { return !between_nodes || nodes > 1; }
};

/// One question in full: workload, strategy, cluster, launch, run and measurement. It is a value that every
/// later stage reads and none changes.
struct Scenario {
  /// File name without folder and extension, or "model on cluster".
  std::string name;
  /// Text that is shown under the table.
  std::string note;
  Model model;
  ClusterSpec cluster;
  /// workload.model is the expanded `model`; batch_per_gpu holds in weak scaling.
  Workload workload;
  /// Samples of a step over all GPUs; set in strong scaling.
  std::optional<std::int64_t> global_batch;
  /// model.batch_per_gpu by kind of node, as in the file.
  std::vector<KindBatch> asked_batches{};
  /// Batch by kind of node; empty: all ranks have the same.
  std::vector<std::int64_t> batch_of_kind{};
  /// The global batch is divided by the speed of the kinds of node.
  bool balances = false;
  std::string strategy = "ddp";
  /// The recorded program of model.program; the strategy is "program" then.
  std::shared_ptr<const ProgramReplays> program{};
  /// [parallel] as requested; it takes the strategy's place (job_on).
  std::optional<LargeModelRun> parallel{};
  StrategyOptions knobs;
  /// Numbers of GPUs: ascending, unique, each from 1 to the cluster's size.
  std::vector<int> gpus;
  Layout layout = Layout::packed;
  CollectiveSettings collective{};
  Launch launch{};
  Sampler sampler = Sampler::distributed;
  double epochs = 1;
  /// Imports, CUDA, NCCL and the first step; by default computed.
  std::optional<Time> startup;
  std::vector<Periodic> periodic;
  std::optional<Anchor> anchor;
  Study study;
  /// `gpus` are those of run.gpus, not the default ones.
  bool lists_gpus = false;
  std::vector<std::string> warnings;
  /// Settings that decide the answer and are not modelled.
  std::vector<UnmodelledSetting> unmodelled{};
  /// Keys that the file and options set, such as "data.samples".
  std::vector<std::string> stated{};
  /// Returns whether the file or an option sets a key.
  bool states(std::string_view key) const { return std::ranges::find(stated, key) != stated.end(); }
};

/// The origin of a setting, for messages.
struct SettingOrigin {
  enum class Kind : std::uint8_t {
    /// An option as it was typed: "--precision bf16".
    option,
    /// A file of this name, at `span`.
    file,
    /// The command itself, or a result of it: "foretrain plan".
    command
  };
  std::string name;
  Kind kind = Kind::option;
  SourceSpan span{};
};

/// Values that the command line adds or replaces; empty = not given.
struct ScenarioOverrides {
  std::string model, cluster;
  /// Model files that replace files of other tools, by the names of those: `model` may be one of them.
  std::map<std::string, std::string> networks{};
  /// A strategy that replaces the file's. It keeps the machine and the job of the file, but not how the
  /// processes start. If it belongs to another framework, the file's statements about its framework are
  /// dropped too.
  std::string strategy;
  std::optional<std::int64_t> batch;
  std::vector<int> gpus;
  /// Settings "key=value" as for --set.
  std::vector<std::string> settings;
  /// Origins by the text of a setting, or by the option whose value it is ("--gpus"). If there is none, --set
  /// or that option gave it. Messages name it.
  std::map<std::string, SettingOrigin> origins{};
  /// Notes on the settings for the user; they become the scenario's warnings.
  std::vector<std::string> notes{};
  /// See Scenario::unmodelled.
  std::vector<UnmodelledSetting> unmodelled{};
  /// `strategy` is one of several to compare. Options of others are omitted, and numbers of GPUs that it
  /// cannot use stay in the scenario.
  bool one_of_several = false;
  /// One combination of [study]. These settings win over all others; the table itself and [measured] are
  /// omitted. `one_of_several` applies as well, except for settings of strategy.name. Numbers of GPUs that
  /// are too many are omitted.
  std::vector<StudySetting> combination;
};

struct OpenedCatalogs;  // opened_catalogs.hpp

/// Reads a scenario from its text; names resolve in the catalogs. Throws InputError with every mistake.
Scenario read_scenario(const SourceText& source, const ScenarioOverrides& overrides);
/// Makes a scenario from the command line alone. Throws InputError unless it has a model and a cluster.
Scenario make_scenario(const ScenarioOverrides& overrides);
/// Returns the text of a scenario file that holds both, without comments. Throws InputError if `source` is
/// not TOML.
std::string scenario_file_of(const SourceText& source,
                             const ScenarioOverrides& overrides);  // sections/scenario_document.cpp

/// As above, for one of many scenarios: contents of `opened` are not read from the catalogs again.
Scenario read_scenario(const SourceText& source, const ScenarioOverrides& overrides, OpenedCatalogs& opened);
Scenario make_scenario(const ScenarioOverrides& overrides, OpenedCatalogs& opened);

}  // namespace foretrain

// A question: which network, on which cluster, with which strategy, on how many GPUs.
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

/// Which part of the model a measurement corrects: kernel times, host times, or the input pipeline.
enum class AnchorSide : std::uint8_t { compute, host, input };

struct Scenario;
class ProgramReplays;

/// A measured point that the model is scaled to.
struct Anchor {
  int gpus = 1;
  double step_s = 0;
  std::optional<AnchorSide> scales{};  ///< which side is wrong; by default the one that bounds the step
  bool reused_batch = false;  ///< the measured run loaded one batch and trained on it again and again
  std::shared_ptr<const Scenario> job{};  ///< what was measured; none: the scenario itself
};

/// Work that happens every so many epochs: as long as `duration` says, or else a pass over `samples`
/// (validation), or else writing the weights and the optimizer's state from one rank at `bandwidth`
/// (checkpoint).
struct Periodic {
  std::string name;  ///< "validation", "checkpoint"
  double every_epochs = 1;
  std::optional<Time> duration{};
  std::int64_t samples = 0;
  std::int64_t batch_per_gpu = 0;  ///< of the pass; 0 = the training's
  ByteRate bandwidth{};
};

/// The batch of a GPU on nodes of a kind.
struct KindBatch {
  std::string kind;
  std::int64_t batch = 0;
  SourceSpan span{};
};

/// A setting that decides memory, time or the wire and that is not modelled: no answer holds with it.
struct UnmodelledSetting {
  std::string setting;  ///< "zero_optimization.offload_param.device = nvme"
  std::string place;    ///< "ds_config.json:12"
  std::string effect;   ///< a sentence: what it does, with direction and size where they are known
  bool decides_memory = false, decides_time = false;
  bool between_nodes = false;        ///< matters only for jobs on several nodes
  double shortest = 1, longest = 1;  ///< what a step takes with it over what it takes without, at the ends
  bool matters_on(int nodes) const { return !between_nodes || nodes > 1; }
};

/// One question in full: workload, strategy, cluster, launch, run and what was measured. It is a value that
/// every later stage reads and none changes.
struct Scenario {
  std::string name;  ///< file name without folder and extension, or "model on cluster"
  std::string note;  ///< shown under the table
  Model model;
  ClusterSpec cluster;
  Workload workload;  ///< workload.model is the expanded `model`; batch_per_gpu in weak scaling
  std::optional<std::int64_t> global_batch;   ///< strong scaling when set
  std::vector<KindBatch> asked_batches{};     ///< model.batch_per_gpu by kind of node, as the file says
  std::vector<std::int64_t> batch_of_kind{};  ///< the same for every kind; empty: all ranks have the same
  bool balances = false;                      ///< the global batch is dealt out by the speed of the kinds
  std::string strategy = "ddp";
  /// Of model.program: the recorded program that is trained; the strategy is "program" then.
  std::shared_ptr<const ProgramReplays> program{};
  std::optional<LargeModelRun> parallel{};  ///< [parallel] as asked: takes the strategy's place (job_on)
  StrategyOptions knobs;
  std::vector<int> gpus;  ///< ascending, unique, each 1..cluster size
  Layout layout = Layout::packed;
  CollectiveSettings collective{};
  Launch launch{};
  Sampler sampler = Sampler::distributed;
  double epochs = 1;
  std::optional<Time> startup;  ///< imports, CUDA, NCCL, first step; by default computed
  std::vector<Periodic> periodic;
  std::optional<Anchor> anchor;
  Study study;
  bool lists_gpus = false;  ///< `gpus` are those of run.gpus, not the usual ones
  std::vector<std::string> warnings;
  std::vector<UnmodelledSetting> unmodelled{};  ///< what decides the answer and is not modelled
  std::vector<std::string> stated{};            ///< keys that file and options give, as "data.samples"
  bool states(std::string_view key) const { return std::ranges::find(stated, key) != stated.end(); }
};

/// What gave a setting.
struct SettingOrigin {
  enum class Kind : std::uint8_t {
    option,  ///< as it was typed: "--precision bf16"
    file,    ///< at `span` of the file of this name
    command  ///< the command itself, or what it found: "foretrain plan"
  };
  std::string name;
  Kind kind = Kind::option;
  SourceSpan span{};
};

/// What the command line adds or replaces; empty = not given.
struct ScenarioOverrides {
  std::string model, cluster;
  /// Model files that stand for files of other tools, by the names of those: `model` may be one of them.
  std::map<std::string, std::string> networks{};
  /// Another strategy than the file's takes over neither how the processes start nor, where it belongs to
  /// another framework, what the file says of that; the machine and the job stay.
  std::string strategy;
  std::optional<std::int64_t> batch;
  std::vector<int> gpus;
  std::vector<std::string> settings;  ///< "key=value" as for --set
  /// By the text of a setting, or by the option whose value it is ("--gpus"); none: --set or that option gave
  /// it. Messages name it.
  std::map<std::string, SettingOrigin> origins{};
  std::vector<std::string> notes{};  ///< what people should know of the settings: the scenario's warnings
  std::vector<UnmodelledSetting> unmodelled{};  ///< Scenario::unmodelled
  /// `strategy` is one of several to compare: options of others are left out, and numbers of GPUs that it
  /// cannot use stay in the scenario.
  bool one_of_several = false;
  /// One combination of [study]: these settings win over all others, the table itself and [measured] are left
  /// out, and like `one_of_several` but for each setting of strategy.name. Numbers of GPUs that are too many
  /// are left out.
  std::vector<StudySetting> combination;
};

struct OpenedCatalogs;  // opened_catalogs.hpp

/// Reads a scenario from its text; names resolve in the catalogs. Throws InputError with every mistake.
Scenario read_scenario(const SourceText& source, const ScenarioOverrides& overrides);
/// A scenario from the command line alone; needs a model and a cluster.
Scenario make_scenario(const ScenarioOverrides& overrides);
/// The text of a scenario file that holds both, without comments. Throws InputError for what is no TOML.
std::string scenario_file_of(const SourceText& source,
                             const ScenarioOverrides& overrides);  // sections/scenario_document.cpp

/// The same for one of many: what another one has read from the catalogs is not read again.
Scenario read_scenario(const SourceText& source, const ScenarioOverrides& overrides, OpenedCatalogs& opened);
Scenario make_scenario(const ScenarioOverrides& overrides, OpenedCatalogs& opened);

}  // namespace foretrain

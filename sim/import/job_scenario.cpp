// Writes one table after the other. A value out of the schema's range is left out, because the schema would
// only report it as a mistake.
#include "sim/import/job_scenario.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/jobs/named_software.hpp"
#include "sim/import/launch_reader.hpp"
#include "sim/import/program_arguments.hpp"
#include "sim/scenario/calibration/calibration_text.hpp"
#include "sim/scenario/launch.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

// foretrain::quoted is written in full below: std::string arguments would also find std::quoted.

/// Returns foretrain's name of a strategy as programs call it; empty for unknown names.
std::string strategy_named(std::string word) {
  word = lower_case(word);
  static const std::map<std::string, std::string, std::less<>> rows{
      {"ddp", "ddp"},
      {"ddp_spawn", "ddp"},
      {"ddp_find_unused_parameters_false", "ddp"},
      {"dp", "data_parallel"},
      {"fsdp", "fsdp"},
      {"deepspeed", "zero0"},
      {"deepspeed_stage_1", "zero1"},
      {"deepspeed_stage_2", "zero2"},
      {"deepspeed_stage_3", "zero3"},
      {"mirrored", "mirrored"},
      {"multi_worker_mirrored", "multi_worker_mirrored"},
      {"parameter_server", "parameter_server"},
      {"one_device", "single"},
      {"off", "single"},
      {"horovod", "horovod"}};
  const auto found = rows.find(word);
  return found == rows.end() ? std::string() : found->second;
}

/// Returns the place: "line 12", or "run.sh:12" when the launch line stands in another script.
std::string place_of(const JobLaunch& launch, const SourceSpan& span) {
  return launch.file.empty() ? fmt::format("line {}", span.line)
                             : fmt::format("{}:{}", launch.file, span.line);
}

/// A value with the reason that stands as a comment behind it.
struct Chosen {
  std::string value, why;
};

/// Returns the strategy: the user's, else the program's argument, else a settings file's, else that of the
/// launcher.
Chosen strategy_of(const JobScript& script) {
  const JobLaunch& launch = script.launch;
  const auto said = [&launch](const ProgramArgument& argument) {
    return fmt::format("{}: {}", place_of(launch, argument.span), argument.option);
  };
  if (!launch.asked_strategy.empty()) return {launch.asked_strategy, "--strategy"};
  if (const ProgramArgument* named = find_argument(launch.arguments, "strategy")) {
    const std::string own = strategy_named(named->value);
    if (!own.empty()) return {own, said(*named) + " " + named->value};
  }
  if (!launch.strategy.empty()) return {launch.strategy, launch.strategy_said_by};
  if (!launch.started_by) return {};
  const std::string line = place_of(launch, launch.started_by->span);
  if (launch.started_by->value == StartedBy::horovodrun) return {"horovod", line + ": horovodrun"};
  const ProgramArgument* deepspeed = find_argument(launch.arguments, "deepspeed");
  if (launch.started_by->value == StartedBy::deepspeed || deepspeed != nullptr)
    return {"zero0", line + ": DeepSpeed; its stage is in its configuration, which is not read"};
  if (const ProgramArgument* fsdp = find_argument(launch.arguments, "fsdp")) return {"fsdp", said(*fsdp)};
  return {"ddp", fmt::format("{}: {}, and no strategy is named", line, name_of(launch.started_by->value))};
}

std::string_view launcher_name(StartedBy starter) {
  switch (starter) {
    case StartedBy::accelerate:
    case StartedBy::lightning:
      return name_of(Launcher::torchrun);
    case StartedBy::jsrun:
    case StartedBy::remote_shell:
      return name_of(Launcher::mpirun);
    case StartedBy::flux_run:
      return name_of(Launcher::srun);
    default:
      return name_of(starter);
  }
}

/// Says whether a process of the strategy drives all GPUs of its node, or of the job.
bool drives_several_gpus(const std::string& strategy) {
  const StrategyEntry* entry = find_strategy(strategy);
  return entry != nullptr && !entry->one_gpu && entry->processes != Processes::per_gpu;
}

/// Says whether one process runs the strategy, whatever starts it.
bool is_one_process(const std::string& strategy) {
  const StrategyEntry* entry = find_strategy(strategy);
  return entry != nullptr &&
         (entry->one_gpu || entry->processes == Processes::one || strategy == "parameter_server");
}

class ScenarioWriter {
 public:
  ScenarioWriter(const JobScript& script, const ClusterSpec& cluster, const JobScenarioOptions& options)
      : script_(script),
        cluster_(cluster),
        options_(options),
        strategy_(strategy_of(script)),
        is_cut_(says_setting("parallel.")) {}

  std::string write() {
    if (!options_.is_recorded) add_model();
    add_data();
    if (!options_.is_recorded) add_strategy();
    add_launch();
    table("cluster");
    add_cluster();
    add_run();
    add_software();
    add_settings();
    return text();
  }

 private:
  struct Line {
    std::string name, value, why;
  };
  struct Section {
    std::string name;
    std::vector<Line> lines;
  };
  static constexpr std::string_view kNoModel =
      "# name = \"resnet50\"             # the script does not say which network: fill it in, or --model "
      "NAME\n";

  void table(std::string_view name) {
    const auto found = std::ranges::find(sections_, name, &Section::name);
    at_ = static_cast<std::size_t>(found - sections_.begin());
    if (found == sections_.end()) sections_.push_back({std::string(name), {}});
  }
  void key(std::string_view name, const std::string& value, const std::string& why) {
    sections_[at_].lines.push_back({std::string(name), value, why});
  }
  bool says(std::string_view name) const {
    return std::ranges::find(sections_[at_].lines, name, &Line::name) != sections_[at_].lines.end();
  }

  std::string text() const {
    std::string out;
    for (const Section& section : sections_) {
      out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", section.name);
      const bool is_named = std::ranges::any_of(
          section.lines, [](const Line& row) { return row.name == "name" || row.name == "network"; });
      if (section.name == "model" && !is_named) out += kNoModel;
      for (const Line& row : section.lines) {
        const std::string line = fmt::format("{} = {}", row.name, row.value);
        out += row.why.empty() ? line + "\n" : fmt::format("{:<31} # {}\n", line, printable(row.why));
      }
    }
    return out;
  }

  /// Writes the cluster. A part of a site is "site/kind"; its kind is a key of its own, which stays where an
  /// option names the site.
  void add_cluster() {
    const std::string why =
        script_.request.partition ? fmt::format("line {}", script_.request.partition->span.line) : "";
    if (options_.kind.empty()) return key("name", foretrain::quoted(cluster_.name), why);
    const std::size_t slash = cluster_.name.find('/');
    key("name",
        foretrain::quoted(slash == std::string::npos ? cluster_.site.name : cluster_.name.substr(0, slash)),
        "");
    key("partition", foretrain::quoted(options_.kind), why);
  }

  /// Adds the software, if it is of the strategy's framework.
  void add_software() {
    const Field<std::string> software = software_for(strategy_.value, script_);
    if (!software || options_.is_recorded) return;
    table("framework");
    key("software", foretrain::quoted(software->value), place_of(script_.launch, software->span));
  }

  void add_settings() {
    for (const TrainingSettings& settings : options_.settings) {
      for (const SettingEffect& effect : scenario_keys(settings)) {
        const std::size_t dot = effect.key.find('.');
        const std::string name = effect.key.substr(dot + 1);
        if (effect.key == "run.gpus") continue;
        if (options_.is_recorded && !effect.key.starts_with("data.")) continue;
        // A network that the user names goes before one that arguments describe.
        if (effect.key == "model.network" && !options_.model.empty()) continue;
        table(effect.key.substr(0, dot));
        const bool is_batch = name == "batch_per_gpu" || name == "global_batch";
        if (is_batch ? says("batch_per_gpu") || says("global_batch") : says(name)) continue;
        const ReadKey& key_read = *said_by(settings, effect.key);
        key(name, effect.value,
            key_read.span.line > 0
                ? fmt::format("{}:{}: {}", base_name(key_read.file), key_read.span.line, key_read.path)
                : fmt::format("{}: {}", base_name(key_read.file), key_read.note));
      }
    }
    std::erase_if(sections_,
                  [](const Section& section) { return section.lines.empty() && section.name != "model"; });
  }

  std::string said(const ProgramArgument& argument) const {
    return fmt::format("{}: {}", place_of(script_.launch, argument.span), argument.option);
  }

  /// Returns an argument's value as an integer in the schema's range.
  static std::optional<std::int64_t> integer(const ProgramArgument* argument, std::int64_t least,
                                             std::int64_t most) {
    const auto value = argument == nullptr ? std::nullopt : whole_number(argument->value);
    return value && *value >= least && *value <= most ? value : std::nullopt;
  }

  const ProgramArgument* argument(std::string_view name) const {
    return find_argument(script_.launch.arguments, name);
  }

  void add_model() {
    table("model");
    if (!options_.model.empty()) key("name", foretrain::quoted(options_.model), options_.model_said_by);
    add_batch();
    const ProgramArgument* bf16 = argument("bf16");
    const ProgramArgument* half = bf16 != nullptr ? bf16 : argument("fp16");
    const ProgramArgument* precision = argument("precision");
    const bool off =
        half != nullptr && (half->value == "false" || half->value == "False" || half->value == "0");
    if (half != nullptr && !off)
      return key("precision", foretrain::quoted(half == bf16 ? "bf16" : "amp_fp16"), said(*half));
    if (precision == nullptr) return;
    const std::string& word = precision->value;
    if (word.find("bf16") != word.npos || word == "bfloat16")
      key("precision", foretrain::quoted("bf16"), said(*precision));
    if (word == "fp16" || word == "16" || word == "16-mixed" || word == "float16")
      key("precision", foretrain::quoted("amp_fp16"), said(*precision));
  }

  /// Adds the batch, which is that of a process. One process that drives all GPUs shares it out among them.
  void add_batch() {
    if (is_cut_) return;  // [parallel] says it
    const ProgramArgument* global = argument("global_batch");
    const ProgramArgument* own = argument("batch_per_gpu");
    const ProgramArgument* batch = argument("batch");
    if (const auto value = integer(global, 1, 100'000'000))
      return key("global_batch", std::to_string(*value), said(*global));
    if (const auto value = integer(own, 1, 1'000'000))
      return key("batch_per_gpu", std::to_string(*value), said(*own));
    const auto value = integer(batch, 1, 1'000'000);
    if (!value) return;
    key(is_shared_process() ? "global_batch" : "batch_per_gpu", std::to_string(*value),
        said(*batch) + (is_shared_process() ? ", of all GPUs" : ", of a process"));
  }

  void add_data() {
    const ProgramArgument* workers = argument("workers");
    const auto count = integer(workers, 0, 256);
    const bool loads = count || options_.loads_data || settings_load_data();
    const Share cores = share_of_cores();
    if (!loads && !cores.is_short) return;
    table("data");
    if (!loads) key("loader", "\"none\"", "nothing is said of the data: only the CPUs count");
    if (count)
      key("workers_per_gpu", std::to_string(*count),
          said(*workers) + (is_shared_process() ? ", of the process" : ""));
    if (cores.each > 0) key("cores_per_gpu", fmt::format("{:.6g}", cores.each), cores.why);
    if (is_shared_process()) key("per_process", "true", "one process drives all GPUs");
  }

  /// Says whether one process drives several GPUs, so that the script's numbers are of all of them.
  bool is_shared_process() const { return drives_several_gpus(strategy_.value); }

  /// CPUs of a process; 0 when unknown. They are short if the main thread and the autograd threads could use
  /// more.
  struct Share {
    double each = 0;
    bool is_short = false;
    std::string why{};
  };
  Share share_of_cores() const {
    const JobResources& have = script_.resources;
    const bool is_known = have.cpus_per_node && have.cpus_per_node->value > 0 && have.gpus_per_node &&
                          have.gpus_per_node->value > 0;
    if (!is_known) return {};
    const int sharing = is_shared_process() ? 1 : sharing_cores();
    const int threads = is_shared_process() ? 1 + have.gpus_per_node->value : 2;
    const double cpus = std::min(have.cpus_per_node->value, cluster_.node.host.cores);
    const double each = cpus / sharing;
    if (each < 0.001 || each > 1024) return {};
    return {each, each < threads,
            fmt::format("{} CPUs of a node for {}", have.cpus_per_node->value,
                        is_shared_process() ? "one process" : counted(sharing, "GPU"))};
  }

  /// Says whether some settings file states a key that begins so.
  bool says_setting(std::string_view beginning) const {
    return std::ranges::any_of(options_.settings, [&](const TrainingSettings& settings) {
      return std::ranges::any_of(scenario_keys(settings), [&](const SettingEffect& effect) {
        return effect.key.starts_with(beginning);
      });
    });
  }

  bool settings_load_data() const {
    return std::ranges::any_of(options_.settings, [](const TrainingSettings& settings) {
      return !value_of(settings, "data.workers_per_gpu").empty();
    });
  }

  /// Returns the GPUs of a node that share its cores, which are those that work.
  int sharing_cores() const {
    const int gpus = script_.resources.gpus_per_node->value;
    const Field<int>& processes = script_.launch.processes_per_node;
    const bool some_idle =
        processes && processes->value >= 1 && processes->value < gpus && !drives_all_gpus(script_);
    return some_idle ? processes->value : gpus;
  }

  void add_strategy() {
    if (is_cut_) return;
    const ProgramArgument* steps = argument("accumulation");
    const auto accumulation = integer(steps, 1, 4096);
    if (strategy_.value.empty() && !accumulation) return;
    table("strategy");
    if (!strategy_.value.empty()) key("name", foretrain::quoted(strategy_.value), strategy_.why);
    if (accumulation) key("accumulation", std::to_string(*accumulation), said(*steps));
  }

  void add_launch() {
    const JobLaunch& launch = script_.launch;
    if (!launch.started_by || is_one_process(strategy_.value)) return;
    table("launch");
    key("with", foretrain::quoted(launcher_name(launch.started_by->value)),
        fmt::format("{}: {}", place_of(launch, launch.started_by->span), name_of(launch.started_by->value)));
    const bool counts = launch.processes_per_node && launch.started_by->value != StartedBy::python &&
                        strategy_.value != "multi_worker_mirrored";
    const int processes = counts ? launch.processes_per_node->value : 0;
    if (processes >= 1 && processes <= cluster_.node.gpus)
      key("processes_per_node", std::to_string(processes),
          place_of(launch, launch.processes_per_node->span.line > 0 ? launch.processes_per_node->span
                                                                    : launch.started_by->span));
  }

  std::string why_gpus(int gpus) const {
    const Found<int>& reserved = *script_.resources.gpus;
    if (gpus < reserved.value && script_.launch.started_by)
      return fmt::format("{}: {} of {} reserved GPUs train together",
                         place_of(script_.launch, script_.launch.started_by->span), gpus, reserved.value);
    return reserved.span.line > 0 ? fmt::format("line {}: {} reserved", reserved.span.line, reserved.value)
                                  : std::string();
  }

  void add_run() {
    table("run");
    const int gpus = gpus_of_training(script_);
    // A network that is cut over GPUs cannot run on one, nor can a program that was recorded on several.
    const bool is_alone = gpus == 1 || is_cut_ || options_.is_recorded;
    if (gpus >= 1)
      key("gpus", is_alone ? fmt::format("[{}]", gpus) : fmt::format("[1, {}]", gpus), why_gpus(gpus));
    const ProgramArgument* epochs = argument("epochs");
    if (const auto value = integer(epochs, 1, 1'000'000))
      key("epochs", std::to_string(*value), said(*epochs));
  }

  const JobScript& script_;
  const ClusterSpec& cluster_;
  const JobScenarioOptions& options_;
  Chosen strategy_;
  bool is_cut_ = false;  ///< the network is cut over GPUs: [parallel] in place of a strategy
  std::vector<Section> sections_;
  std::size_t at_ = 0;
};

}  // namespace

bool drives_all_gpus(const JobScript& script) {
  const StrategyEntry* strategy = find_strategy(strategy_of(script).value);
  return strategy != nullptr && strategy->processes != Processes::per_gpu;
}

std::string write_job_scenario(const JobScript& script, const ClusterSpec& cluster,
                               const JobScenarioOptions& options) {
  return ScenarioWriter(script, cluster, options).write();
}

}  // namespace foretrain

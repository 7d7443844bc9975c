// The scenario file: the central reader of a question.
//
// Tables are read in an order in which each finds the values that it is checked against: the strategy's name
// and the framework first; then model and cluster, whose files are read from the catalogs; then data,
// options, launch and collectives; then the numbers of GPUs, [parallel], loop, measurement and study.
// Mistakes inside named files are reported with these files' names, together with those of the scenario.
// Nothing throws until all tables are read; then one InputError has every mistake. Values that depend on
// several tables are settled after the last of them (functions named settle_…). The cost is dominated by the
// catalogs' files, which OpenedCatalogs keeps for further scenarios.
//
// A small scenario:
// [model]
// name = "resnet50"
// [cluster]
// name = "mahti"
// [run]
// gpus = [1, 2, 4]
#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/recording.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections/cluster_section.hpp"
#include "sim/scenario/sections/collective_sections.hpp"
#include "sim/scenario/sections/data_section.hpp"
#include "sim/scenario/sections/framework_section.hpp"
#include "sim/scenario/sections/launch_section.hpp"
#include "sim/scenario/sections/loop_section.hpp"
#include "sim/scenario/sections/model_section.hpp"
#include "sim/scenario/sections/parallel_section.hpp"
#include "sim/scenario/sections/run_sections.hpp"
#include "sim/scenario/sections/scenario_document.hpp"
#include "sim/scenario/sections/scenario_effects.hpp"
#include "sim/scenario/sections/scenario_keys.hpp"
#include "sim/scenario/sections/software_era.hpp"
#include "sim/scenario/sections/strategy_section.hpp"
#include "sim/scenario/sections/study_section.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/workload/lowering/lowering.hpp"

namespace foretrain {

namespace {

/// A table of the document. If it is missing, an empty one takes its place, so that required keys and
/// defaults work the same.
class Section {
 public:
  // A missing table has its name, too, for messages on missing keys.
  Section(TableReader& document, std::string_view key)
      : table_(find(document, key)), reader_(*table_, std::string(key), document.diagnostics()) {}
  Section(const Section&) = delete;
  Section& operator=(const Section&) = delete;
  TableReader& reader() { return reader_; }

 private:
  // Unreadable lines may have held keys of a missing table, so none of them is required then.
  const Table* find(TableReader& document, std::string_view key) {
    const Table* found = document.table(key);
    none_.damaged = document.damaged() || document.has(key);
    return found != nullptr ? found : &none_;
  }

  Table none_;
  const Table* table_;
  TableReader reader_;
};

/// Reads [measured]. `checked`: the strategy that was measured is the scenario's.
void read_measured_section(TableReader& document, bool checked, Scenario& scenario) {
  const Table* table = document.table("measured");
  if (table == nullptr) return;
  TableReader measured(*table, "measured", document.diagnostics());
  read_measured(measured, scenario);
  if (checked) check_anchor(measured, scenario);
  measured.finish();
}

/// Reads a table whose keys depend only on the scenario itself.
void read_section(TableReader& document, std::string_view key, void (*read)(TableReader&, Scenario&),
                  Scenario& scenario) {
  Section section(document, key);
  read(section.reader(), scenario);
  section.reader().finish();
}

/// Reads [run]. Numbers of GPUs are checked unless the scenario is one of several to compare.
void read_run_section(TableReader& document, const ScenarioDocument& source, Scenario& scenario) {
  Section run(document, "run");
  read_run(run.reader(), source.is_combination(), scenario);
  if (!source.one_of_several()) check_gpus(run.reader(), scenario);
  run.reader().finish();
}

/// Reads [parallel]. The presence of the table requests degrees of parallelism.
void read_parallel_section(TableReader& document, Scenario& scenario) {
  const Table* table = document.table("parallel");
  if (table == nullptr) return;
  TableReader parallel(*table, "parallel", document.diagnostics());
  read_parallel(parallel, scenario);
  if (scenario.model.tuning.changes_network())
    parallel.report(
        parallel.span_of(""),
        "adapters, frozen parts, model.weights and fused kernels are not modelled with [parallel]",
        "leave [parallel] out and give a strategy, as in --strategy fsdp");
  if (scenario.workload.offload_activations != ActivationOffload::none)
    parallel.report(parallel.span_of(""), "model.offload_activations is not for [parallel]",
                    "write offload = \"activations\" there");
  parallel.finish();
}

/// Reports strategies and accumulation that do not work with an optimizer inside of backward, which needs
/// each gradient whole when it comes, and drops it.
void check_optimizer_in_backward(TableReader& strategy, const Scenario& scenario) {
  if (!scenario.workload.optimizer.in_backward) return;
  // These strategies use a gradient as soon as it is complete.
  constexpr std::array<std::string_view, 3> kSteps{"single", "fsdp", "fsdp2"};
  if (std::ranges::find(kSteps, scenario.strategy) == kSteps.end())
    strategy.report(
        strategy.span_of("name"),
        fmt::format("{} keeps gradients until they are exchanged, and model.optimizer_in_backward "
                    "drops each at once",
                    scenario.strategy),
        "use single, fsdp or fsdp2, or leave model.optimizer_in_backward out");
  if (scenario.knobs.accumulation > 1)
    strategy.report(strategy.span_of("accumulation"),
                    "model.optimizer_in_backward steps in every micro-step: nothing is accumulated",
                    "leave one of the two out");
}

/// Reports strategies that do not keep whole matrices on each GPU, as Muon, GaLore and Shampoo need.
void check_matrix_optimizer(TableReader& strategy, const Scenario& scenario) {
  if (!works_on_matrices(scenario.workload.optimizer.kind)) return;
  constexpr std::array<std::string_view, 2> kWhole{"single", "ddp"};
  if (std::ranges::find(kWhole, scenario.strategy) != kWhole.end()) return;
  strategy.report(strategy.span_of("name"),
                  fmt::format("{} works on whole matrices, and is not modelled with {}",
                              name_of(scenario.workload.optimizer.kind), scenario.strategy),
                  "use single or ddp, or another optimizer");
}

/// Reports strategies with several GPUs in a process: copies to the host are modelled for a process with one
/// GPU.
void check_offloaded_activations(TableReader& strategy, const Scenario& scenario) {
  const bool offloads = scenario.workload.offload_activations != ActivationOffload::none;
  const StrategyEntry* entry = find_strategy(scenario.strategy);
  if (!offloads || entry == nullptr || entry->processes == Processes::per_gpu) return;
  strategy.report(strategy.span_of("name"),
                  fmt::format("{} drives several GPUs in one process, and model.offload_activations is "
                              "modelled for a process with one",
                              scenario.strategy),
                  "use ddp, fsdp or zero3, or leave model.offload_activations out");
}

/// Returns whether a study lists numbers of GPUs. Then each number has a line of its own, with a reason of
/// its own if it fails.
bool leaves_gpus_to_study(const ScenarioDocument& source) {
  return source.is_combination() || (source.has("study.gpus") && !source.has("run.gpus"));
}

/// Sets NCCL's version: that of the software or the framework, if one is given, and at least the first that
/// runs on the GPU. Reports a PyTorch without kernels for the GPU.
void settle_nccl_version(TableReader& document, const ScenarioDocument& source, Scenario& scenario) {
  const Framework& framework = scenario.workload.framework;
  const Architecture gpu = scenario.cluster.node.gpu.architecture;
  const Table* table = document.table("framework");
  const bool has_version = source.has("framework.version"), has_software = source.has("framework.software");
  nccl::Version version = scenario.collective.nccl.version;
  if (table != nullptr && (has_version || has_software)) {
    TableReader reader(*table, "framework", document.diagnostics());
    if (framework.kind == FrameworkKind::pytorch && framework.version < first_pytorch_for(gpu))
      reader.report(
          reader.span_of(has_version ? "version" : "software"),
          fmt::format("{} has no kernels for {}", title_of(framework), scenario.cluster.node.gpu.name),
          fmt::format("the first that has is {}", to_text(first_pytorch_for(gpu))));
    // The framework decides NCCL; the software does so only if no version is stated.
    version = nccl_of(framework);
    if (has_software && !has_version) {
      const auto read = read_software(reader.spelling("software").value_or(""), framework.kind);
      if (read.stack) version = read.stack->nccl;
    }
  }
  // The chosen version must also run on the GPU.
  if (!source.has("nccl.version")) scenario.collective.nccl.version = at_least_for(gpu, version);
}

/// Reads [nccl] and [launch]. nccl.gdr is a property of the nodes, so it goes into the cluster.
void read_collective_sections(TableReader& document, TableReader& launch, bool one_of_several,
                              Scenario& scenario) {
  CollectiveKnobs knobs;
  Section nccl(document, "nccl");
  read_nccl(nccl.reader(), knobs);
  scenario.collective = knobs.settings();
  read_launch_section(launch, one_of_several, scenario);
  check_isolation(document, scenario.collective.nccl);
  nccl.reader().finish();
  if (!knobs.gpudirect) return;
  visit_nodes(scenario.cluster, [&](NodeSpec& node) { node.gpudirect = *knobs.gpudirect; });
}

/// Reads all tables in the order in which they depend on each other.
void read_document(ScenarioDocument& source, OpenedCatalogs& opened, Scenario& scenario) {
  TableReader document(source.table(), "", source.diagnostics());
  read_keys(document, document_keys(), scenario);
  Section model(document, "model"), cluster(document, "cluster"), data(document, "data"),
      strategy(document, "strategy"), launch(document, "launch");
  // The strategy's name decides the default framework.
  read_strategy_name(strategy.reader(), scenario);
  read_section(document, "framework", read_framework, scenario);
  // Model and cluster are files of their own.
  read_model_section(model.reader(), opened, scenario);
  read_cluster_section(cluster.reader(), opened, scenario);
  // Values that need both model and cluster.
  settle_image_layout(source.has("framework.layout"), scenario);
  settle_batches(model.reader(), scenario);
  model.reader().finish();
  cluster.reader().finish();
  // Defaults of the loader depend on the node, options on the strategy.
  read_data(data.reader(), scenario);
  read_strategy_knobs(strategy.reader(), source, scenario);
  settle_param_type(strategy.reader(), source, scenario);
  check_optimizer_in_backward(strategy.reader(), scenario);
  check_matrix_optimizer(strategy.reader(), scenario);
  check_offloaded_activations(strategy.reader(), scenario);
  strategy.reader().finish();
  // Collectives and launch come before the numbers of GPUs, which depend on them.
  read_collective_sections(document, launch.reader(), source.one_of_several(), scenario);
  settle_nccl_version(document, source, scenario);
  read_run_section(document, source, scenario);
  read_parallel_section(document, scenario);
  check_shm(launch.reader(), scenario);
  launch.reader().finish();
  // Checks that need the numbers of GPUs.
  if (!leaves_gpus_to_study(source)) check_steps(data.reader(), scenario);
  data.reader().finish();
  // The script, the measurement and the study need everything above.
  read_section(document, "loop", read_loop, scenario);
  read_measured_section(document, !source.one_of_several() && !source.changes_measured_job(), scenario);
  read_study(document, source, scenario);
  document.finish();
}

/// Sets the values that follow from the whole scenario: the network as it is trained, the name, and the batch
/// of each GPU in strong scaling.
void complete(Scenario& scenario, const std::string& file) {
  const std::string stem = name_of_file(file);
  Workload& work = scenario.workload;
  // A network recorded under autocast has a second form, as it ran.
  if (runs_as_recorded(work) && !scenario.parallel) work.model = work.model->as_recorded;
  // Recomputation, offload and the framework's lowering change the operators.
  const bool is_changed =
      work.recompute || is_lowered(work.framework) || work.offload_activations != ActivationOffload::none;
  if (is_changed) work.model = std::make_shared<const ExpandedModel>(as_trained(*work.model, work));
  scenario.name = stem.empty() ? fmt::format("{} on {}", scenario.model.name, scenario.cluster.name) : stem;
  if (!scenario.global_batch) return;
  if (scenario.parallel) return;
  // More GPUs than samples would leave GPUs without work.
  std::erase_if(scenario.gpus, [&](int gpus) { return gpus > *scenario.global_batch; });
  scenario.workload.batch_per_gpu = std::max<std::int64_t>(1, *scenario.global_batch / scenario.gpus.front());
}

/// Returns the names that the file does not have; the command line gives them for both jobs.
ScenarioOverrides names_missing_from(const ScenarioDocument& document, const ScenarioOverrides& overrides) {
  ScenarioOverrides names;
  if (!document.has("model.name")) names.model = overrides.model;
  if (!document.has("cluster.name")) names.cluster = overrides.cluster;
  return names;
}

/// Keeps the measured job, which is the one in the file. If the command line requests another job, the model
/// is scaled on the first and predicts the second. If network or cluster differ, the measurement is dropped
/// with a warning.
void keep_measured_job(const SourceText& source, const ScenarioDocument& document,
                       const ScenarioOverrides& overrides, OpenedCatalogs& opened, Scenario& scenario) {
  if (!scenario.anchor || !document.changes_measured_job()) return;
  // The file alone is the measured job; only names that it lacks come from the command line.
  const ScenarioDocument file(source, {});
  Scenario job = read_scenario(source, names_missing_from(file, overrides), opened);
  if (job.model.name == scenario.model.name && job.cluster.name == scenario.cluster.name) {
    scenario.anchor = job.anchor;
    scenario.anchor->job = std::make_shared<const Scenario>(std::move(job));
    return;
  }
  scenario.anchor.reset();
  scenario.warnings.push_back(
      fmt::format("[measured] is of {} on {}: it does not calibrate the prediction of {} on {}",
                  job.model.name, job.cluster.name, scenario.model.name, scenario.cluster.name));
}

}  // namespace

/// Warnings come last, because they look at the whole scenario.
Scenario read_scenario(const SourceText& source, const ScenarioOverrides& overrides, OpenedCatalogs& opened) {
  ScenarioDocument document(source, overrides);
  opened.networks.insert(overrides.networks.begin(), overrides.networks.end());
  Scenario scenario;
  read_document(document, opened, scenario);
  // All mistakes are thrown together.
  if (std::vector<Diagnostic> mistakes = document.found(); !mistakes.empty())
    throw InputError(std::move(mistakes));
  complete(scenario, source.name);
  keep_measured_job(source, document, overrides, opened, scenario);
  scenario.warnings.insert(scenario.warnings.end(), overrides.notes.begin(), overrides.notes.end());
  scenario.unmodelled = overrides.unmodelled;
  scenario.stated = document.keys();
  for (std::string& warning : settle_precision(scenario)) scenario.warnings.push_back(std::move(warning));
  for (std::string& idle : idle_settings(document, scenario)) scenario.warnings.push_back(std::move(idle));
  for (std::string& doubt : warnings_about(scenario.cluster)) scenario.warnings.push_back(std::move(doubt));
  for (std::string& warning : data_warnings(scenario)) scenario.warnings.push_back(std::move(warning));
  for (std::string& warning : job_warnings(scenario)) scenario.warnings.push_back(std::move(warning));
  for (std::string& warning : recording_warnings(scenario)) scenario.warnings.push_back(std::move(warning));
  return scenario;
}

/// Serves callers that read one scenario: catalogs are opened for it alone.
Scenario read_scenario(const SourceText& source, const ScenarioOverrides& overrides) {
  OpenedCatalogs opened;
  return read_scenario(source, overrides, opened);
}

/// Serves callers that make one scenario.
Scenario make_scenario(const ScenarioOverrides& overrides) {
  OpenedCatalogs opened;
  return make_scenario(overrides, opened);
}

/// Overrides alone are a scenario if they name model and cluster.
Scenario make_scenario(const ScenarioOverrides& overrides, OpenedCatalogs& opened) {
  const SourceText nothing;
  const ScenarioDocument document(nothing, overrides);
  for (const char* key : {"model.name", "cluster.name"}) {
    const std::string_view noun = std::string_view(key).substr(0, std::string_view(key).find('.'));
    // A program or a network file stands for the model's name.
    const bool has_network = document.has("model.program") || document.has("model.network");
    if (!document.has(key) && !(noun == "model" && has_network))
      throw InputError(fmt::format("which {}?", noun),
                       fmt::format("give --{} NAME, or a scenario file", noun));
  }
  return read_scenario(nothing, overrides, opened);
}

}  // namespace foretrain

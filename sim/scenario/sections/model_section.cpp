// The table [model]. A network's own file is read when its name is; its mistakes are reported with its own
// file name.
#include "sim/scenario/sections/model_section.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schema_program.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/sections/fine_tuning_section.hpp"
#include "sim/scenario/sections/launch_section.hpp"
#include "sim/strategy/program/program.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

/// Opens a network by name or path; a network of this command comes before the catalog.
std::optional<OpenedModel> load_model(TableReader& model, std::string_view key, OpenedCatalogs& opened) {
  const auto name = model.string(key);
  if (!name) return std::nullopt;
  // A relative name belongs to the folder of the text that has it.
  const std::string opened_as = name_from(model.diagnostics().source(), model.span_of(key), *name);
  if (const auto known = opened.models.find(opened_as); known != opened.models.end()) return known->second;
  const auto made = opened.networks.find(opened_as);
  const auto source = made != opened.networks.end()
                          ? SourceText{made->first, made->second}
                          : find_named(CatalogKind::models, *name, model.span_of(key), model.diagnostics());
  if (!source) return std::nullopt;
  Diagnostics problems(*source);
  ModelFile file = read_model_file(*source, problems);
  model.diagnostics().include(problems.found());
  if (!problems.empty()) return std::nullopt;
  OpenedModel found{std::move(file.model), std::make_shared<const ExpandedModel>(std::move(file.expanded))};
  return opened.models.emplace(opened_as, std::move(found)).first->second;
}

/// Reads a network whose file's text is in the scenario itself.
std::optional<OpenedModel> load_text(TableReader& model, std::string_view key, OpenedCatalogs& opened) {
  const auto text = model.lines(key);
  if (!text) return std::nullopt;
  if (const auto known = opened.models.find(*text); known != opened.models.end()) return known->second;
  const SourceText source{"network", *text};
  Diagnostics problems(source);
  ModelFile file = read_model_file(source, problems);
  model.diagnostics().include(problems.found());
  if (!problems.empty()) return std::nullopt;
  OpenedModel found{std::move(file.model), std::make_shared<const ExpandedModel>(std::move(file.expanded))};
  return opened.models.emplace(*text, std::move(found)).first->second;
}

constexpr int kLargestRank = 1'000'000, kLargestGap = 1'000'000;

using enum OptimizerKind;
constexpr std::array kOptimizers{
    sgd,        momentum,   nesterov,  adam, adamw, adadelta,     adagrad,           rmsprop, lamb,
    adamw_8bit, adamw_4bit, adafactor, lion, muon,  galore_adamw, galore_adamw_8bit, shampoo, apollo_adamw};

/// Takes the network, and the optimizer with which it is usually trained.
void take_network(std::optional<OpenedModel> loaded, ModelSection& section) {
  if (!loaded) return;
  Workload& work = section.scenario.workload;
  work.model = std::move(loaded->expanded);
  section.scenario.model = std::move(loaded->model);
  for (const OptimizerKind kind : kOptimizers) {
    if (name_of(kind) == section.scenario.model.optimizer) work.optimizer.kind = kind;
  }
}

/// A recorded program replaces the network. `name` is required unless `network` has the text of one.
void read_network(TableReader& model, std::string_view key, ModelSection& section) {
  if (model.has("program")) return;
  if (!model.has("network")) model.require(key, "\"resnet50\"");
  take_network(load_model(model, key, section.opened), section);
}

void read_network_text(TableReader& model, std::string_view key, ModelSection& section) {
  if (model.has("program")) return;
  if (model.has("name"))
    model.lines(key);
  else
    take_network(load_text(model, key, section.opened), section);
}

constexpr std::size_t kMostRecordings = 16;

std::shared_ptr<const Program> load_program(TableReader& model, SourceSpan span, const std::string& path) {
  const auto source = find_named(CatalogKind::models, path, span, model.diagnostics());
  if (!source) return nullptr;
  Diagnostics problems(*source);
  Program program = read_program(*source, problems);
  model.diagnostics().include(problems.found());
  return problems.empty() ? std::make_shared<const Program>(std::move(program)) : nullptr;
}

/// Settles a recorded program. It is a strategy of its own: any other would train another program.
void settle_program(ModelSection& section) {
  Scenario& scenario = section.scenario;
  const Program& first = scenario.program->first();
  Workload& work = scenario.workload;
  scenario.knobs.edit<ProgramOptions>().replays = scenario.program;
  scenario.model.name = first.name, scenario.model.is_recorded = true;
  work.model = std::make_shared<const ExpandedModel>(first_micro_step(first));
  work.precision = Precision::fp32;
  work.batch_per_gpu = std::max<std::int64_t>(1, first.batch / first.micro_steps);
}

void take_program(TableReader& model, SourceSpan span, const std::vector<std::string>& paths,
                  ModelSection& section) {
  std::shared_ptr<const ProgramReplays>& known = section.opened.programs[paths];
  if (!known) {
    std::vector<std::shared_ptr<const Program>> recorded;
    for (const std::string& path : paths) {
      std::shared_ptr<const Program> program = load_program(model, span, path);
      if (!program) return;
      const auto is_same = [&](const auto& other) { return other->world == program->world; };
      if (std::ranges::any_of(recorded, is_same))
        return model.report(span, fmt::format("two recordings are of {} ranks", program->world),
                            "record the program on different numbers of ranks");
      // Recordings without a number of parameters cannot be compared.
      const bool is_known = program->parameters > 0 && !recorded.empty() && recorded.front()->parameters > 0;
      if (is_known && recorded.front()->parameters != program->parameters)
        return model.report(
            span,
            fmt::format("these are recordings of different programs: {} has {} parameters, {} {}",
                        recorded.front()->name, recorded.front()->parameters, program->name,
                        program->parameters),
            "name recordings of one program on different numbers of ranks");
      recorded.push_back(std::move(program));
    }
    known = std::make_shared<const ProgramReplays>(std::move(recorded));
  }
  section.scenario.program = known;
  settle_program(section);
}

/// Reads one recording, or several of one program on different numbers of ranks.
void read_program_files(TableReader& model, std::string_view key, ModelSection& section) {
  const Value* value = model.value(key);
  if (value == nullptr) return;
  for (const std::string_view other : {"name", "network"}) {
    if (model.has(other))
      model.report(model.span_of(other), fmt::format("model has both {} and program", other),
                   "the program is the network as it was recorded: leave one of them out");
  }
  std::vector<std::string> paths;
  if (const auto* one = std::get_if<std::string>(&value->data))
    paths.push_back(*one);
  else
    paths = model.strings(key, kMostRecordings).value_or(std::vector<std::string>{});
  if (paths.empty())
    return model.report(value->span, "model.program names no file", "as in program = \"step.toml\"");
  take_program(model, value->span, paths, section);
}

Keys<ModelSection> network_key() {
  return {{"name",
           {"name or path", read_network},
           "\"resnet50\"",
           "required without `network`",
           "a network of models/ or a file"},
          {"network",
           {"text", read_network_text},
           R"("input = [784]\nlayers = [{ type = \"linear\", out = 10 }, { type = \"loss\" }]")",
           "none",
           "the text of a network's file, where `name` is not given"},
          {"program",
           {"path or list of paths", read_program_files},
           "\"step.toml\"",
           "none",
           "a program that `foretrain record` recorded, instead of `name`; several recordings of one program "
           "on different numbers of ranks tell how it grows"}};
}

/// Returns precisions by their names, and by those of frameworks and training programs.
std::vector<Choice<Precision>> precisions_with_other_names() {
  using enum Precision;
  std::vector<Choice<Precision>> choices = named(std::array{fp32, tf32, amp_fp16, bf16, fp8});
  for (const char* name : {"amp", "fp16", "float16", "half"}) choices.push_back({name, amp_fp16});
  for (const char* name : {"amp_bf16", "bfloat16"}) choices.push_back({name, bf16});
  choices.push_back({"float32", fp32});
  return choices;
}

/// Accepts further names, but shows only the five of the reference page.
Takes<Scenario> precision_name() {
  using enum Precision;
  Takes<Scenario> taken =
      takes::choice<&Scenario::workload, &Workload::precision>(precisions_with_other_names());
  taken.kind = takes::names_of(named(std::array{fp32, tf32, amp_fp16, bf16, fp8}));
  return taken;
}

/// Reads batches by kind of node; the names are resolved when the cluster is read.
void read_batches_of_kinds(TableReader& model, std::string_view key, const Table& table, Scenario& scenario) {
  TableReader reader(table, model.full_name(key), model.diagnostics());
  for (const Entry& entry : table.entries) {
    if (scenario.asked_batches.size() >= kMostNodeKinds) break;
    const auto batch = reader.integer(entry.key, 1, kLargestBatch);
    if (batch) scenario.asked_batches.push_back({entry.key, *batch, entry.key_span});
  }
  if (table.entries.empty())
    model.report(model.span_of(key), "model.batch_per_gpu is empty", "as in { v100 = 32, a100 = 64 }");
}

void read_batch_per_gpu(TableReader& model, std::string_view key, Scenario& scenario) {
  const Value* value = model.value(key);
  if (value == nullptr) return;
  if (const auto* table = std::get_if<Table>(&value->data))
    return read_batches_of_kinds(model, key, *table, scenario);
  if (const auto* word = std::get_if<std::string>(&value->data); word != nullptr && *word == kBalance) {
    scenario.balances = true;
    return;
  }
  const auto batch = model.integer(key, 1, kLargestBatch);
  if (batch) scenario.workload.batch_per_gpu = *batch;
}

Keys<Scenario> training_keys() {
  return {
      {"precision", precision_name(), "\"fp32\"", "fp32",
       "fp32 is PyTorch's default: TF32 inside convolutions since Ampere; amp_fp16 (amp, fp16) is autocast "
       "with a GradScaler, bf16 (amp_bf16) without"},
      {"half_weights", takes::flag<&Scenario::workload, &Workload::half_weights>(), "true", "false",
       "16-bit precisions: weights and gradients are 16-bit too, with fp32 master weights (Apex O2, "
       "DeepSpeed), instead of autocast"},
      {"recompute", takes::flag<&Scenario::workload, &Workload::recompute>(), "true", "false",
       "activation checkpointing of every numbered block of the network: what goes into it is kept, and "
       "backward runs its forward once more"},
      {"batch_per_gpu",
       {"integer, table or balance", read_batch_per_gpu},
       "32",
       "32",
       "samples per GPU and micro-step: weak scaling; with several kinds of node a table, as in "
       "`{ v100 = 32, a100 = 64 }`, or \"balance\", which deals out `global_batch` by the speed of the "
       "kinds"},
      {"global_batch", takes::integer<&Scenario::global_batch>(1, kLargestBatch), "256", "none",
       "samples per step over all GPUs: strong scaling; excludes batch_per_gpu, but for \"balance\""},
      {"optimizer",
       takes::choice<&Scenario::workload, &Workload::optimizer, &Optimizer::kind>(named(kOptimizers)),
       "\"sgd\"", "sgd",
       "which kernels update the parameters; muon, galore_adamw, galore_adamw_8bit, apollo_adamw and shampoo "
       "work on the matrices of blocks, and leave the rest to Adam"},
      {"optimizer_rank",
       takes::integer<&Scenario::workload, &Workload::optimizer, &Optimizer::rank>(1, kLargestRank), "1024",
       "128", "rows or columns that GaLore and APOLLO project a matrix's gradient to"},
      {"optimizer_update_gap",
       takes::integer<&Scenario::workload, &Workload::optimizer, &Optimizer::update_gap>(1, kLargestGap),
       "200", "200", "steps between decompositions: GaLore's projectors, Shampoo's roots"},
  };
}

Keys<ModelSection> form_key() {
  using enum OptimizerForm;
  return {{"optimizer_form", takes::choice<&ModelSection::form>(named(std::array{foreach, for_loop, fused})),
           "\"foreach\"", "the framework's",
           "one kernel per tensor and operation, multi-tensor launches (PyTorch's default since 2.0; before, "
           "for_loop), or one pass"}};
}

Keys<Scenario> decay_key() {
  return {{"optimizer_in_backward",
           takes::flag<&Scenario::workload, &Workload::optimizer, &Optimizer::in_backward>(), "true", "false",
           "each parameter is stepped when its gradient is whole, and the gradient goes (torchtune's "
           "`optimizer_in_bwd`); excludes accumulation and strategies that sum gradients in buckets"},
          {"weight_decay", takes::flag<&Scenario::workload, &Workload::optimizer, &Optimizer::weight_decay>(),
           "true", "false",
           "one more pass over the parameters; in TensorFlow an L2 term of every layer's weights in the "
           "loss"}};
}

/// Reports keys of [model] that contradict a recorded program, which has values of its own.
void check_program_alone(TableReader& model, const Program& program) {
  for (const std::string_view key :
       {"batch_per_gpu", "global_batch", "precision", "half_weights", "recompute", "optimizer",
        "optimizer_form", "weight_decay", "weights", "trainable", "sequence_length", "adapters", "upcast",
        "offload_activations"}) {
    if (!model.has(key)) continue;
    model.report(
        model.span_of(key),
        fmt::format("The recorded program has its own {}, which model.{} cannot change", key, key),
        fmt::format("leave it out, or record the program again{}",
                    program.command.empty() ? "" : fmt::format(": {}", program.command.substr(0, 120))));
  }
}

/// A recorded network is trained as it was recorded, unless the scenario states otherwise.
void settle_recording(TableReader& model, Scenario& scenario) {
  Workload& work = scenario.workload;
  if (!work.model || !work.model->recording || scenario.program) return;
  const Recording& recording = *work.model->recording;
  // Without a stated batch the recorded one is used, for which the sizes are exact.
  if (!model.has("batch_per_gpu") && !model.has("global_batch")) work.batch_per_gpu = recording.batch;
  const bool is_stated = model.has("batch_per_gpu") && scenario.asked_batches.empty() && !scenario.balances;
  if (recording.was_tried_at_two && !recording.grows && is_stated && work.batch_per_gpu != recording.batch)
    model.report(
        model.span_of("batch_per_gpu"),
        fmt::format("{} was recorded at a batch of {}, and its sizes do not grow with the batch in a "
                    "known way",
                    scenario.model.name, recording.batch),
        fmt::format("ask for a batch of {}, or record it at {}", recording.batch, work.batch_per_gpu));
  if (!recording.is_half) return;
  if (!model.has("precision")) work.precision = Precision::bf16;
  if (is_half(work.precision)) return;
  model.report(model.span_of("precision"),
               fmt::format("{} was recorded with weights of 16 bits", scenario.model.name),
               "leave model.precision out, or record it in fp32");
}

/// Reports a batch per GPU beside a global batch, which only "balance" divides and needs.
void check_batch(TableReader& model, const Scenario& scenario) {
  if (scenario.balances && !model.has("global_batch"))
    return model.report(model.span_of("batch_per_gpu"), "batch_per_gpu = \"balance\" needs global_batch",
                        "what is dealt out to the GPUs, as in global_batch = 256");
  if (!model.has("global_batch") || !model.has("batch_per_gpu") || scenario.balances) return;
  model.report(model.span_of("global_batch"), "model has both batch_per_gpu and global_batch",
               "batch_per_gpu keeps the work per GPU the same (weak scaling), global_batch divides it "
               "(strong scaling)");
}

std::string list_of(const std::vector<OptimizerForm>& forms) {
  std::string names;
  for (const OptimizerForm form : forms)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(form));
  return names;
}

/// Settles the form of the optimizer. TensorFlow has one form of each.
void settle_form(TableReader& model, std::optional<OptimizerForm> asked, Workload& work) {
  Optimizer& optimizer = work.optimizer;
  const std::vector<OptimizerForm> forms = forms_of(optimizer.kind, work.framework);
  optimizer.form = forms.front();
  // A single tensor has no other with which it could share a launch.
  if (!asked && optimizer.in_backward && optimizer.form == OptimizerForm::foreach)
    optimizer.form = OptimizerForm::for_loop;
  if (!asked || !profile_of(work.framework).has_optimizer_forms) return;
  optimizer.form = *asked;
  if (std::find(forms.begin(), forms.end(), *asked) != forms.end()) return;
  model.report(model.span_of("optimizer_form"),
               fmt::format("{} has no {} form", name_of(optimizer.kind), name_of(*asked)),
               fmt::format("it has: {}", list_of(forms)));
}

}  // namespace

/// The keys are read in the order of the reference page.
const Keys<ModelSection>& model_keys() {
  static const auto of_scenario = [](ModelSection& section) -> Scenario& { return section.scenario; };
  static const Keys<ModelSection> keys = network_key() +
                                         keys_within<ModelSection>(training_keys(), of_scenario) +
                                         keys_within<ModelSection>(fine_tuning_keys(), of_scenario) +
                                         form_key() + keys_within<ModelSection>(decay_key(), of_scenario);
  return keys;
}

/// Every kind of node needs a batch; the first kind's batch stands for the job where one number is needed.
void settle_batches(TableReader& model, Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  if (scenario.asked_batches.empty() || cluster.name.empty()) return;
  scenario.batch_of_kind.assign(static_cast<std::size_t>(kind_count(cluster)), 0);
  for (const KindBatch& asked : scenario.asked_batches) {
    if (const std::optional<int> kind = find_kind(cluster, asked.kind))
      scenario.batch_of_kind[static_cast<std::size_t>(*kind)] = asked.batch;
    else
      model.report(asked.span, unknown_kind(cluster, asked.kind), hint_for_kind(cluster, asked.kind));
  }
  for (int kind = 0; kind < kind_count(cluster); ++kind) {
    std::int64_t& batch = scenario.batch_of_kind[static_cast<std::size_t>(kind)];
    if (batch > 0) continue;
    model.report(
        model.span_of("batch_per_gpu"),
        fmt::format("model.batch_per_gpu has no batch for nodes of kind \"{}\"", name_of_kind(cluster, kind)),
        "a batch for every kind of the cluster");
    batch = 1;
  }
  scenario.workload.batch_per_gpu = scenario.batch_of_kind.front();
}

/// The network is known after read_keys(); the rest follows from it.
void read_model_section(TableReader& model, OpenedCatalogs& opened, Scenario& scenario) {
  ModelSection section{scenario, opened};
  read_keys(model, model_keys(), section);
  if (scenario.program) check_program_alone(model, scenario.program->first());
  check_batch(model, scenario);
  settle_recording(model, scenario);
  settle_form(model, section.form, scenario.workload);
  if (!scenario.program) settle_fine_tuning(model, scenario);
}

}  // namespace foretrain

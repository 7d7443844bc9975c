// A network's own file is read where its name stands; its mistakes are reported with its own file name.
#include "sim/scenario/sections/model_section.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

std::optional<OpenedModel> load_model(TableReader& model, std::string_view key, OpenedCatalogs& opened) {
  const auto name = model.string(key);
  if (!name) return std::nullopt;
  const std::string opened_as = name_from(model.diagnostics().source(), model.span_of(key), *name);
  if (const auto known = opened.models.find(opened_as); known != opened.models.end()) return known->second;
  const auto source = find_named(CatalogKind::models, *name, model.span_of(key), model.diagnostics());
  if (!source) return std::nullopt;
  Diagnostics problems(*source);
  ModelFile file = read_model_file(*source, problems);
  model.diagnostics().include(problems.found());
  if (!problems.empty()) return std::nullopt;
  OpenedModel found{std::move(file.model), std::make_shared<const ExpandedModel>(std::move(file.expanded))};
  return opened.models.emplace(opened_as, std::move(found)).first->second;
}

using enum OptimizerKind;
constexpr std::array kOptimizers{sgd, momentum, nesterov, adam, adamw, adadelta, adagrad, rmsprop, lamb};

/// The network, and the optimizer it is usually trained with.
void read_network(TableReader& model, std::string_view key, ModelSection& section) {
  auto loaded = load_model(model, key, section.opened);
  if (!loaded) return;
  Workload& work = section.scenario.workload;
  work.model = std::move(loaded->expanded);
  section.scenario.model = std::move(loaded->model);
  for (const OptimizerKind kind : kOptimizers) {
    if (name_of(kind) == section.scenario.model.optimizer) work.optimizer.kind = kind;
  }
}

Keys<ModelSection> network_key() {
  return {
      {"name", {"name or path", read_network}, "\"resnet50\"", kRequired, "a network of models/ or a file"}};
}

/// By their names, and by what frameworks and training programs call them.
std::vector<Choice<Precision>> precisions_with_other_names() {
  using enum Precision;
  std::vector<Choice<Precision>> choices = named(std::array{fp32, tf32, amp_fp16, bf16, fp8});
  for (const char* name : {"amp", "fp16", "float16", "half"}) choices.push_back({name, amp_fp16});
  for (const char* name : {"amp_bf16", "bfloat16"}) choices.push_back({name, bf16});
  choices.push_back({"float32", fp32});
  return choices;
}

Takes<Scenario> precision_name() {
  using enum Precision;
  Takes<Scenario> taken =
      takes::choice<&Scenario::workload, &Workload::precision>(precisions_with_other_names());
  taken.kind = takes::names_of(named(std::array{fp32, tf32, amp_fp16, bf16, fp8}));
  return taken;
}

Keys<Scenario> training_keys() {
  return {
      {"precision", precision_name(), "\"fp32\"", "fp32",
       "fp32 is PyTorch's default: TF32 inside convolutions since Ampere; amp_fp16 (amp, fp16) is autocast "
       "with a GradScaler, bf16 (amp_bf16) without"},
      {"half_weights", takes::flag<&Scenario::workload, &Workload::half_weights>(), "true", "false",
       "16-bit precisions: weights and gradients are 16-bit too, with fp32 master weights (Apex O2, "
       "DeepSpeed), instead of autocast"},
      {"batch_per_gpu", takes::integer<&Scenario::workload, &Workload::batch_per_gpu>(1, kLargestBatch), "32",
       "32", "samples per GPU and micro-step: weak scaling"},
      {"global_batch", takes::integer<&Scenario::global_batch>(1, kLargestBatch), "256", "none",
       "samples per step over all GPUs: strong scaling; excludes batch_per_gpu"},
      {"optimizer",
       takes::choice<&Scenario::workload, &Workload::optimizer, &Optimizer::kind>(named(kOptimizers)),
       "\"sgd\"", "sgd", "which kernels update the parameters"},
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
  return {{"weight_decay", takes::flag<&Scenario::workload, &Workload::optimizer, &Optimizer::weight_decay>(),
           "true", "false",
           "one more pass over the parameters; in TensorFlow an L2 term of every layer's weights in the "
           "loss"}};
}

void check_batch(TableReader& model) {
  if (!model.has("global_batch") || !model.has("batch_per_gpu")) return;
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

/// TensorFlow has one form of each.
void settle_form(TableReader& model, std::optional<OptimizerForm> asked, Workload& work) {
  Optimizer& optimizer = work.optimizer;
  const std::vector<OptimizerForm> forms = forms_of(optimizer.kind, work.framework);
  optimizer.form = forms.front();
  if (!asked || !profile_of(work.framework).has_optimizer_forms) return;
  optimizer.form = *asked;
  if (std::find(forms.begin(), forms.end(), *asked) != forms.end()) return;
  model.report(model.span_of("optimizer_form"),
               fmt::format("{} has no {} form", name_of(optimizer.kind), name_of(*asked)),
               fmt::format("it has: {}", list_of(forms)));
}

}  // namespace

const Keys<ModelSection>& model_keys() {
  static const auto of_scenario = [](ModelSection& section) -> Scenario& { return section.scenario; };
  static const Keys<ModelSection> keys = network_key() +
                                         keys_within<ModelSection>(training_keys(), of_scenario) +
                                         form_key() + keys_within<ModelSection>(decay_key(), of_scenario);
  return keys;
}

void read_model_section(TableReader& model, OpenedCatalogs& opened, Scenario& scenario) {
  ModelSection section{scenario, opened};
  read_keys(model, model_keys(), section);
  check_batch(model);
  settle_form(model, section.form, scenario.workload);
}

}  // namespace foretrain

// The version decides defaults: PyTorch packs tensors in the optimizer and drops gradients since 2.0; Keras
// is TensorFlow's loop.
#include "sim/scenario/sections/framework_section.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/scenario/toml/section_values.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

using enum OptimizerKind;
constexpr std::array kOptimizers{sgd, momentum, nesterov, adam, adamw, adadelta, adagrad, rmsprop, lamb};
constexpr std::array kForms{OptimizerForm::for_loop, OptimizerForm::foreach, OptimizerForm::fused};
constexpr FrameworkVersion kPacked{2, 0};  // PyTorch: foreach and set_to_none by default

template <typename Enum, typename Values>
std::vector<Choice<Enum>> named(const Values& values) {
  std::vector<Choice<Enum>> choices;
  for (const Enum value : values) choices.push_back({std::string(name_of(value)), value});
  return choices;
}

void read_framework_version(TableReader& reader, Framework& framework) {
  const auto text = reader.spelling("version");
  if (!reader.has("version")) return;
  const auto version = text ? parse_framework_version(*text) : std::nullopt;
  if (version && *version >= FrameworkVersion{1, 0})
    framework.version = *version;
  else
    reader.report(reader.span_of("version"), "framework.version is no version",
                  "as in framework.version = \"2.3\"");
}

void read_execution(TableReader& reader, Framework& framework) {
  const auto choices = named<Execution>(
      std::array{Execution::eager, Execution::graph, Execution::compiled, Execution::cuda_graphs});
  choose<Execution>(reader, "execution", choices, framework.execution);
  const std::vector<Execution> offered = executions_of(framework.kind);
  if (std::find(offered.begin(), offered.end(), framework.execution) != offered.end()) return;
  std::string names;
  for (const Execution execution : offered)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(execution));
  reader.report(reader.span_of("execution"),
                fmt::format("{} does not run as {}", name_of(framework.kind), name_of(framework.execution)),
                fmt::format("it offers: {}", names));
}

std::string list_of(const std::vector<OptimizerForm>& forms) {
  std::string names;
  for (const OptimizerForm form : forms)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(form));
  return names;
}

}  // namespace

void read_framework(TableReader& reader, Scenario& scenario) {
  Framework& framework = scenario.workload.framework;
  const std::optional<FrameworkKind> own = find_strategy(scenario.strategy)->framework;
  FrameworkKind kind = own.value_or(FrameworkKind::pytorch);
  choose<FrameworkKind>(reader, "name",
                        named<FrameworkKind>(std::array{FrameworkKind::pytorch, FrameworkKind::tensorflow}),
                        kind);
  framework = usual_framework(kind);
  read_framework_version(reader, framework);
  read_execution(reader, framework);
  if (framework.execution == Execution::compiled)
    framework.layout = ImageLayout::channels_last;  // compilers choose layouts themselves
  choose<ImageLayout>(
      reader, "layout",
      {{"channels_first", ImageLayout::channels_first}, {"channels_last", ImageLayout::channels_last}},
      framework.layout);
  TrainingLoop& loop = scenario.workload.loop;
  const bool fills = kind == FrameworkKind::pytorch && framework.version < kPacked;
  loop.zero_grad = fills ? TrainingLoop::ZeroGrad::zero : TrainingLoop::ZeroGrad::set_to_none;
  if (kind == FrameworkKind::tensorflow) loop.hooks = LoopHooks::keras;
}

void read_optimizer(TableReader& model, Scenario& scenario) {
  Optimizer& optimizer = scenario.workload.optimizer;
  for (const OptimizerKind kind : kOptimizers) {
    if (name_of(kind) == scenario.model.optimizer) optimizer.kind = kind;
  }
  choose<OptimizerKind>(model, "optimizer", named<OptimizerKind>(kOptimizers), optimizer.kind);
  keep(model.boolean("weight_decay"), optimizer.weight_decay);
  const Framework& framework = scenario.workload.framework;
  const std::vector<OptimizerForm> forms = forms_of(optimizer.kind, framework);
  optimizer.form = forms.front();
  OptimizerForm asked = optimizer.form;
  choose<OptimizerForm>(model, "optimizer_form", named<OptimizerForm>(kForms), asked);
  if (framework.kind == FrameworkKind::tensorflow) return;
  optimizer.form = asked;
  if (std::find(forms.begin(), forms.end(), asked) != forms.end()) return;
  model.report(model.span_of("optimizer_form"),
               fmt::format("{} has no {} form", name_of(optimizer.kind), name_of(asked)),
               fmt::format("it has: {}", list_of(forms)));
}

void read_loop(TableReader& loop, Scenario& scenario) {
  using Z = TrainingLoop::ZeroGrad;
  using H = LoopHooks;
  TrainingLoop& script = scenario.workload.loop;
  keep(loop.boolean("non_blocking"), script.non_blocking);
  count(loop, "loss_item_every", 0, 1'000'000, script.loss_item_every);
  keep(loop.boolean("loss_item_before_backward"), script.loss_item_before_backward);
  choose<Z>(loop, "zero_grad", {{"none", Z::none}, {"set_to_none", Z::set_to_none}, {"zero", Z::zero}},
            script.zero_grad);
  choose<LoopMetrics>(loop, "metrics", {{"none", LoopMetrics::none}, {"accuracy", LoopMetrics::accuracy}},
                      script.metrics);
  choose<GradientClipping>(loop, "clip_grad_norm",
                           {{"none", GradientClipping::none},
                            {"on_device", GradientClipping::on_device},
                            {"read_back", GradientClipping::read_back}},
                           script.clip_grad_norm);
  choose<H>(loop, "hooks",
            {{"none", H::none},
             {"lightning", H::lightning},
             {"huggingface", H::huggingface},
             {"keras", H::keras},
             {"gradient_noise", H::gradient_noise}},
            script.hooks);
  if (script.hooks == H::gradient_noise && scenario.workload.framework.kind != FrameworkKind::pytorch)
    loop.report(loop.span_of("hooks"), "the trainer that measures gradient noise (AdaptDL) is one of PyTorch",
                "leave loop.hooks out, or framework.name");
  keep(loop.boolean("progress_bar"), script.progress_bar);
  choose<LoopProfiler>(loop, "profiler", {{"none", LoopProfiler::none}, {"line", LoopProfiler::line}},
                       script.profiler);
  keep(loop.time("overhead"), script.overhead);
}

}  // namespace foretrain

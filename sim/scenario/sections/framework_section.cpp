// The table [framework]. The version decides defaults: PyTorch packs tensors in the optimizer and drops
// gradients since 2.0; Keras is TensorFlow's loop.
#include "sim/scenario/sections/framework_section.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/scenario/sections/software_era.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/workload/framework_profile.hpp"

namespace foretrain {

namespace {

/// Reads the framework's name and sets its usual version and execution, which later keys replace.
void read_framework_name(TableReader& table, std::string_view key, Framework& framework) {
  // The name sets all values of the framework, so that it must be read before the other keys.
  static const auto choices = named(std::array{FrameworkKind::pytorch, FrameworkKind::tensorflow});
  FrameworkKind kind = framework.kind;
  choose(table, key, choices, kind);
  framework = usual_framework(kind);
}

/// Reads a version; one that was never released is reported.
void read_framework_version(TableReader& table, std::string_view key, Framework& framework) {
  const auto text = table.spelling(key);
  if (!table.has(key)) return;
  const auto version = text ? parse_framework_version(*text) : std::nullopt;
  if (!version || *version < FrameworkVersion{0, 1})
    table.report(table.span_of(key), "framework.version is no version", "as in framework.version = \"2.3\"");
  else if (!was_released(framework.kind, *version))
    table.report(
        table.span_of(key),
        fmt::format("there is no {} {}", framework.kind == FrameworkKind::pytorch ? "PyTorch" : "TensorFlow",
                    to_text(*version)),
        "as in framework.version = \"2.3\"");
  else {
    // Versions before 1.0 run as 1.0 does.
    framework.version = *version;
    framework.cuda = cuda_of(framework);
  }
}

/// Reads the software. A version that is stated by itself wins over that of the software.
void read_software_stack(TableReader& table, std::string_view key, Framework& framework) {
  const auto text = table.spelling(key);
  if (!table.has(key)) return;
  const SoftwareReading read = read_software(text.value_or(""), framework.kind);
  if (!read.stack)
    table.report(table.span_of(key), read.problem, read.hint);
  else if (read.stack->framework != framework.kind)
    table.report(table.span_of(key),
                 fmt::format("{} is {}, and this job trains with {}", *text, name_of(read.stack->framework),
                             name_of(framework.kind)),
                 "say framework.name, or choose a strategy of that framework");
  else if (!table.has("version")) {
    framework.version = read.stack->version;
    framework.cuda = read.stack->cuda;
  }
}

/// Compilers choose layouts themselves, and choose channels last.
void settle_layout(const TableReader& table, Framework& framework) {
  if (framework.execution == Execution::compiled && !table.has("layout"))
    framework.layout = ImageLayout::channels_last;
}

/// Reports an execution mode that the framework does not have.
void check_execution(TableReader& table, const Framework& framework) {
  const std::vector<Execution> offered = executions_of(framework.kind);
  if (std::find(offered.begin(), offered.end(), framework.execution) != offered.end()) return;
  std::string names;
  for (const Execution execution : offered)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name_of(execution));
  table.report(table.span_of("execution"),
               fmt::format("{} does not run as {}", name_of(framework.kind), name_of(framework.execution)),
               fmt::format("it offers: {}", names));
}

}  // namespace

/// The names are those of scenarios and of [parallel].
std::vector<Choice<AttentionKernel>> fused_attention_choices() {
  return {{"newest", AttentionKernel::newest},
          {"flash-2", AttentionKernel::version_2},
          {"flash-1", AttentionKernel::version_1},
          {"flash-1-triton", AttentionKernel::version_1_triton}};
}

const Keys<Framework>& framework_keys() {
  using enum ImageLayout;
  static const Keys<Framework> keys{
      {"name",
       {"pytorch, tensorflow", read_framework_name},
       "\"tensorflow\"",
       "pytorch",
       "whose host costs, kernels and defaults"},
      {"version",
       {"version", read_framework_version},
       "\"1.11\"",
       "PyTorch 2.3, TensorFlow 2.15",
       "PyTorch before 2.0 runs optimizers as for_loop and fills gradients with zeros; Keras before "
       "TensorFlow 2.2 reads each batch's results"},
      {"software",
       {"year, container or module", read_software_stack},
       "\"ngc-24.07\"",
       "not known",
       "what the job runs in, for framework.version and nccl.version: a year or month (\"2020\", "
       "\"2020-10\"), a "
       "container of NVIDIA, an image or a module with its version (\"pytorch/2.1\")"},
      {"execution",
       takes::choice<&Framework::execution>(named(
           std::array{Execution::eager, Execution::graph, Execution::compiled, Execution::cuda_graphs})),
       "\"compiled\"", "eager in PyTorch, graph in TensorFlow",
       "a host call per operator, a graph's executor, torch.compile or XLA, or the whole step in one launch"},
      {"layout",
       takes::choice<&Framework::layout>(std::vector<Choice<ImageLayout>>{{"channels_first", channels_first},
                                                                          {"channels_last", channels_last}}),
       "\"channels_last\"",
       "channels_last where compiled, and in 16 bits with TensorFlow since Ampere; else channels_first",
       "images in memory; 16-bit convolutions on tensor cores want channels last"},
      {"attention", takes::choice<&Framework::attention>(fused_attention_choices()), "\"flash-1\"", "flash-2",
       "which kernel computes fused attention in 16 bits on A100, H100 and B200: the best of the GPU's "
       "generation, or a version of FlashAttention"},
  };
  return keys;
}

/// The rule is that of the layout pass in versions of TensorFlow that run on Ampere and newer GPUs.
void settle_image_layout(bool layout_given, Scenario& scenario) {
  const Architecture gpu = scenario.cluster.node.gpu.architecture;
  const bool since_ampere = gpu == Architecture::ampere || gpu == Architecture::ada ||
                            gpu == Architecture::hopper || gpu == Architecture::blackwell;
  Framework& framework = scenario.workload.framework;
  if (!layout_given && since_ampere && framework.kind == FrameworkKind::tensorflow &&
      is_half(scenario.workload.precision))
    framework.layout = ImageLayout::channels_last;
}

/// The strategy's own framework is the default.
void read_framework(TableReader& table, Scenario& scenario) {
  Framework& framework = scenario.workload.framework;
  const FrameworkKind own = find_strategy(scenario.strategy)->framework.value_or(FrameworkKind::pytorch);
  framework = usual_framework(own);
  read_keys(table, framework_keys(), framework);
  settle_layout(table, framework);
  check_execution(table, framework);
  TrainingLoop& loop = scenario.workload.loop;
  const FrameworkProfile& profile = profile_of(framework);
  // Versions that drop gradients set them to none; others fill them with zeros.
  const bool drops = profile.drops_gradients && profile.drops_gradients->holds(framework.version);
  loop.zero_grad =
      profile.keeps_gradients && !drops ? TrainingLoop::ZeroGrad::zero : TrainingLoop::ZeroGrad::set_to_none;
  // Hooks of the usual trainer, such as those of Keras, are defaults that [loop] may replace.
  loop.hooks = profile.usual_hooks;
}

}  // namespace foretrain

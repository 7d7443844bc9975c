// Fine-tuning. The network was read with all its parameters trained; it is expanded anew if the scenario
// changes that.
#include "sim/scenario/sections/fine_tuning_section.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Upper limits of lists, of a sample's length, and of an adapter's rank.
constexpr std::size_t kMostTunedNames = 64;
constexpr std::int64_t kMostTokens = 100'000'000, kHighestRank = 1'000'000;

/// Returns one word or a list of words.
std::vector<std::string> words_at(TableReader& table, std::string_view key) {
  const Value* value = table.value(key);
  if (value == nullptr) return {};
  if (const auto* word = std::get_if<std::string>(&value->data)) return {*word};
  return table.strings(key, kMostTunedNames).value_or(std::vector<std::string>{});
}

/// The layers that get adapters.
Takes<FineTuning> target_names() {
  return {"name or list of names", [](TableReader& table, std::string_view key, FineTuning& tuning) {
            tuning.targets = words_at(table, key);
          }};
}

/// Reads the fused kernels, by their names or those of a library.
void read_fused_kernels(TableReader& model, std::string_view key, Scenario& scenario) {
  // Each word may name one kernel or all kernels of a library.
  for (const std::string& word : words_at(model, key)) {
    if (const auto kernels = fused_kernels_named(word))
      scenario.model.tuning.fused.add(*kernels);
    else
      model.report(model.span_of(key), fmt::format("no fused kernel is called \"{}\"", word),
                   fmt::format("known are {}", known_fused_kernels()));
  }
}

/// Reads fused_loss, another name of one fused kernel.
void read_fused_loss(TableReader& model, std::string_view key, Scenario& scenario) {
  const auto is_fused = model.boolean(key);
  if (is_fused && *is_fused) scenario.model.tuning.fused.add(FusedKernel::linear_cross_entropy);
}

/// Reads the names of trained parameters.
void read_trainable(TableReader& model, std::string_view key, Scenario& scenario) {
  scenario.model.tuning.trainable = words_at(model, key);
}

/// Sets the tokens of a sample in place of the network's own; reports networks without a sequence of tokens.
void read_sequence_length(TableReader& model, std::string_view key, Scenario& scenario) {
  const auto length = model.integer(key, 1, kMostTokens);
  if (!length) return;
  // Only networks whose input is one list of tokens have a length that can be changed.
  if (!scenario.model.is_recorded && scenario.model.input_is_tokens && scenario.model.input.size() == 1) {
    scenario.model.input = {*length};
    return;
  }
  model.report(model.span_of(key),
               fmt::format("{} has no sequence of tokens whose length could be set",
                           scenario.model.name.empty() ? "this network" : scenario.model.name),
               "leave model.sequence_length out");
}

/// Choices in the order of the reference page.
constexpr std::array kWeightFormats{WeightFormat::by_precision, WeightFormat::fp32,      WeightFormat::bf16,
                                    WeightFormat::fp16,         WeightFormat::fp8,       WeightFormat::int8,
                                    WeightFormat::nf4,          WeightFormat::nf4_double};
constexpr std::array kAdapterKinds{AdapterKind::none,  AdapterKind::lora,   AdapterKind::dora,
                                   AdapterKind::ia3,   AdapterKind::prompt, AdapterKind::p_tuning,
                                   AdapterKind::prefix};
constexpr std::array kUpcasts{Upcast::none, Upcast::norms, Upcast::all};
constexpr std::int64_t kMostVirtualTokens = 100'000, kWidestEncoder = 10'000'000;

/// Reads [model.adapters], whose presence means LoRA, and reports keys that the kind of adapter does not
/// have.
void read_adapters(TableReader& model, FineTuning& tuning) {
  const Table* table = model.table("adapters");
  if (table == nullptr) return;
  TableReader adapters(*table, "model.adapters", model.diagnostics());
  tuning.adapter = AdapterKind::lora;
  read_keys(adapters, adapter_keys(), tuning);
  // Vectors in front of a sequence and adapters inside layers have different keys.
  const bool is_virtual = has_virtual_tokens(tuning.adapter);
  for (const std::string_view key : {"rank", "targets", "dropout"}) {
    if (is_virtual && adapters.has(key))
      adapters.report(
          adapters.span_of(key),
          fmt::format("{} adds no adapters to layers, and has no {}", name_of(tuning.adapter), key),
          "virtual_tokens and encoder_width are its keys");
  }
  for (const std::string_view key : {"virtual_tokens", "encoder_width"}) {
    if (!is_virtual && adapters.has(key))
      adapters.report(adapters.span_of(key), fmt::format("{} has no {}", name_of(tuning.adapter), key),
                      "it is for prompt, p_tuning and prefix");
  }
  if (tuning.adapter == AdapterKind::prompt && adapters.has("encoder_width"))
    adapters.report(adapters.span_of("encoder_width"), "prompt has no encoder_width",
                    "its vectors are a table; p_tuning makes them with a network");
  adapters.finish();
}

/// Sets defaults of adapters: weights are loaded in bf16 and a batch is one sample, unless the scenario
/// states otherwise.
void assume_for_adapters(const TableReader& model, Scenario& scenario) {
  FineTuning& tuning = scenario.model.tuning;
  if (tuning.adapter == AdapterKind::none) return;
  // Any statement on the width of weights keeps the usual precision.
  const bool says_width = model.has("weights") || model.has("precision") || model.has("half_weights");
  if (!says_width) tuning.weights = WeightFormat::bf16;
  if (!model.has("batch_per_gpu") && !model.has("global_batch")) scenario.workload.batch_per_gpu = 1;
}

/// Settles the precision of products: weights of 16 bits and fewer are multiplied in 16 bits.
void settle_precision_of(TableReader& model, Scenario& scenario) {
  const WeightFormat format = scenario.model.tuning.weights;
  if (format == WeightFormat::by_precision || format == WeightFormat::fp32) return;
  Precision& precision = scenario.workload.precision;
  // The precision follows the weights: amp_fp16 for weights of fp16, bf16 for all others.
  if (!model.has("precision"))
    precision = format == WeightFormat::fp16 ? Precision::amp_fp16 : Precision::bf16;
  // Products in fp32 would need weights of 32 bits.
  if (!is_half(precision))
    model.report(model.span_of("precision"),
                 fmt::format("weights of {} are multiplied in 16 bits, not in {}", name_of(format),
                             name_of(precision)),
                 "leave model.precision out, or write bf16");
  if (scenario.workload.half_weights && !is_quantised(format))
    model.report(model.span_of("half_weights"), "model.weights and model.half_weights are one or the other",
                 "half_weights keeps fp32 masters beside weights of 16 bits, model.weights does not");
}

/// Reports an upcast that has no narrower weights beside it, and an offload of activations that are not kept.
void check_upcast_and_offload(TableReader& model, const Scenario& scenario) {
  const FineTuning& tuning = scenario.model.tuning;
  const bool is_narrow = tuning.weights != WeightFormat::by_precision && tuning.weights != WeightFormat::fp32;
  // Upcasting needs weights that are narrower than 32 bits.
  if (tuning.upcast != Upcast::none && !is_narrow)
    model.report(model.span_of("upcast"),
                 "model.upcast makes weights fp32 beside those of 16 bits and fewer, and these are fp32",
                 "say how they are stored, as in weights = \"nf4\", or leave upcast out");
  const Workload& work = scenario.workload;
  if (work.offload_activations == ActivationOffload::checkpoints && !work.recompute)
    model.report(model.span_of("offload_activations"),
                 "the inputs of recomputed blocks are offloaded, and no block is recomputed",
                 "add recompute = true, or write offload_activations = \"saved_tensors\"");
  if (work.offload_activations != ActivationOffload::none && scenario.model.is_recorded)
    model.report(
        model.span_of("offload_activations"),
        fmt::format("{} was recorded: what it keeps is what it was recorded with", scenario.model.name),
        "record the network with its offload, or name one of `foretrain list models`");
}

/// Expands the network as it is trained. Faults are shown at the key that is their likely cause.
void expand_tuned(TableReader& model, Scenario& scenario) {
  ExpansionResult expansion = expand(scenario.model);
  if (expansion.faults.empty()) {
    scenario.workload.model = std::make_shared<const ExpandedModel>(std::move(expansion.model));
    return;
  }
  // If the network has the same fault without changes, its length is the reason.
  Model plain = scenario.model;
  plain.tuning = {};
  const bool is_length = model.has("sequence_length") && !expand(plain).faults.empty();
  // The mistake is reported at the first key that changes the network.
  const std::string_view key = is_length                    ? "sequence_length"
                               : model.has("adapters")      ? "adapters"
                               : model.has("trainable")     ? "trainable"
                               : model.has("weights")       ? "weights"
                               : model.has("upcast")        ? "upcast"
                               : model.has("fused_kernels") ? "fused_kernels"
                                                            : "sequence_length";
  for (const ModelFault& fault : expansion.faults)
    model.report(model.span_of(key), fault.message, fault.hint);
}

}  // namespace

/// These keys are read together with the others of [model], and settled after all of them.
Keys<Scenario> fine_tuning_keys() {
  return {
      // Storage of weights, and the parameters that train.
      {"weights",
       takes::choice<&Scenario::model, &Model::tuning, &FineTuning::weights>(named(kWeightFormats)),
       "\"bf16\"", "by_precision",
       "how weights are stored. bf16, fp16: gradients and the optimizer's moments have 16 bits, too, and "
       "there are no "
       "fp32 masters. fp8, int8, nf4, nf4_double: frozen linear layers of blocks have 8 or 4 bits "
       "(bitsandbytes), the "
       "other weights 16; by_precision: fp32, or what `half_weights` says"},
      {"upcast", takes::choice<&Scenario::model, &Model::tuning, &FineTuning::upcast>(named(kUpcasts)),
       "\"all\"", "none",
       "which weights are fp32 beside weights of 16 bits and fewer, with the activations that follow them: "
       "norms (LLaMA-Factory's `upcast_layernorm`), all that are not packed (PEFT's "
       "prepare_model_for_kbit_training)"},
      {"trainable",
       {"name or list of names", read_trainable},
       "[\"norms\", \"last:2\"]",
       "all without adapters, none beside them",
       "what trains: all, head, norms, biases, last:N blocks, from:N (all but modules with a lower number, "
       "Ultralytics' freeze), or a part of a parameter's name; everything else is "
       "frozen. Beside adapters these are trained as a whole (modules_to_save)"},
      // Kernels that replace several operators.
      {"fused_kernels",
       {"name or list of names", read_fused_kernels},
       "\"liger\"",
       "none",
       "kernels in the place of several operators of transformers: rms_norm, swiglu, rope, gelu, "
       "flash_attention (keys and values are not copied for each head), cross_entropy (in place), "
       "linear_cross_entropy (head and loss on a part of the tokens at a time), lora (a product and its "
       "adapter "
       "in one function, which keeps its input once), or those of a library: "
       "liger, "
       "unsloth, flash_attn"},
      {"fused_loss",
       {"true, false", read_fused_loss},
       "true",
       "false",
       "the same as \"linear_cross_entropy\" among `fused_kernels` (Liger, unsloth, torchtune's and TRL's "
       "chunked losses)"},
      // Activations in host memory, and the length of a sample.
      {"offload_activations",
       takes::choice<&Scenario::workload, &Workload::offload_activations>(
           std::vector<Choice<ActivationOffload>>{{"none", ActivationOffload::none},
                                                  {"checkpoints", ActivationOffload::checkpoints},
                                                  {"saved_tensors", ActivationOffload::saved_tensors}}),
       "\"checkpoints\"", "none",
       "activations that wait for backward in host memory. checkpoints: what goes into recomputed blocks, "
       "copied on the compute stream (unsloth, axolotl's gradient_checkpointing: offload). saved_tensors: "
       "all "
       "that is kept, on a stream of its own (torchtune's enable_activation_offloading, TRL's "
       "activation_offloading)"},
      {"sequence_length",
       {"integer", read_sequence_length},
       "2048",
       "the network's own",
       "tokens of a sample"},
  };
}

/// read_adapters() checks that the other keys belong to the kind.
const Keys<FineTuning>& adapter_keys() {
  static const Keys<FineTuning> keys{
      {"kind", takes::choice<&FineTuning::adapter>(named(kAdapterKinds)), "\"lora\"", "lora",
       "lora: two thin products beside a frozen one; dora: their sum with the weight is scaled to a trained "
       "length; "
       "ia3: a trained factor for every feature; prompt: trained vectors in front of every sequence; "
       "p_tuning: the same, made by a network of three layers; prefix: trained keys and values in front of "
       "those of every attention"},
      {"rank", takes::integer<&FineTuning::rank>(1, kHighestRank), "16", "8",
       "features between the two products"},
      {"targets", target_names(), "[\"q_proj\", \"v_proj\"]", "query and value projections",
       "which linear layers have one, by the names of transformers, PEFT, litgpt or torchtune; "
       "\"all-linear\" is every "
       "one but the head of a language model"},
      {"virtual_tokens", takes::integer<&FineTuning::virtual_tokens>(1, kMostVirtualTokens), "20", "20",
       "of prompt, p_tuning and prefix: trained vectors (PEFT's num_virtual_tokens)"},
      {"encoder_width", takes::integer<&FineTuning::encoder_width>(1, kWidestEncoder), "128",
       "p_tuning: the embedding's width; prefix: no such network",
       "features inside of the network that makes the vectors (PEFT's encoder_hidden_size; of prefix with "
       "prefix_projection)"},
      {"dropout", takes::flag<&FineTuning::dropout>(), "true", "false",
       "dropout on what goes into an adapter"},
      {"fp32", takes::flag<&FineTuning::wide_adapters>(), "false", "true",
       "adapters are trained in fp32 beside weights of 16 bits and fewer (PEFT's autocast_adapter_dtype); "
       "false: in "
       "16 bits"},
  };
  return keys;
}

/// The order is that of dependencies: defaults, then precision, then checks, then the expansion that needs
/// all of them.
void settle_fine_tuning(TableReader& model, Scenario& scenario) {
  FineTuning& tuning = scenario.model.tuning;
  read_adapters(model, tuning);
  assume_for_adapters(model, scenario);
  settle_precision_of(model, scenario);
  check_upcast_and_offload(model, scenario);
  // Precision and compilation decide how the tuned network runs.
  tuning.computes_in_half = is_half(scenario.workload.precision);
  tuning.is_compiled = scenario.workload.framework.execution == Execution::compiled;
  // An unchanged network stays as it was read.
  if (!tuning.changes_network() && !tuning.is_compiled && !model.has("sequence_length")) return;
  // A recorded network cannot be expanded in another way.
  if (scenario.model.is_recorded && tuning.changes_network()) {
    const std::string_view key = model.has("adapters")     ? "adapters"
                                 : model.has("trainable")  ? "trainable"
                                 : model.has("weights")    ? "weights"
                                 : model.has("fused_loss") ? "fused_loss"
                                                           : "fused_kernels";
    model.report(
        model.span_of(key),
        fmt::format("{} was recorded: what it trains is what it was recorded with", scenario.model.name),
        "record the network with its adapters, or name one of `foretrain list models`");
    return;
  }
  // Further mistakes could come from a network that was read in part only.
  if (model.diagnostics().empty() && !scenario.model.layers.empty()) expand_tuned(model, scenario);
}

}  // namespace foretrain

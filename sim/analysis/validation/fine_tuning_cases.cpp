// Words of the sources become keys of a scenario by tables. A word that no table has is reported as the
// reason for skipping the row; nothing is guessed.
#include <algorithm>
#include <cctype>
#include <map>

#include <fmt/format.h>

#include "sim/analysis/validation/fine_tuning_validation.hpp"
#include "sim/analysis/validation/large_model_validation.hpp"
#include "sim/base/ascii.hpp"
#include "sim/scenario/catalog.hpp"

namespace foretrain {

namespace {

/// A name in the sources, and the catalog's or the scenario's name for it.
struct NamedAs {
  std::string_view theirs, ours;
};

/// Networks whose names in the sources do not begin with the catalog's name. Names are compared by letters
/// and digits alone.
constexpr NamedAs kTuningModels[] = {{"llama31405b", "llama3_405b"},
                                     {"llama3170b", "llama3_70b"},
                                     {"llama318b", "llama3_8b"},
                                     {"llama3370b", "llama3_70b"},
                                     {"openllama7b", "llama_7b"},
                                     {"falcon7b", "falcon_7b"},
                                     {"devstralsmall24b", "mistral_small_24b"},
                                     {"magistralsmall24b", "mistral_small_24b"},
                                     {"mistralsmall3124b", "mistral_small_24b"},
                                     {"powerlm3b", "powerlm_3b"},
                                     {"tinyllama", "tinyllama_1_1b"},
                                     {"stablelmalpha3b", "stablelm_alpha_3b"},
                                     {"stablelmbasealpha3b", "stablelm_alpha_3b"},
                                     {"phi2", "phi_2"},
                                     {"phi15", "phi_1_5"},
                                     {"phi3mini", "phi3_mini"}};

/// Names of GPUs. A card that a source describes by its memory alone is taken as a usual GPU of that size.
constexpr NamedAs kTuningGpus[] = {{"A100-80GB", "a100-sxm4-80gb"},
                                   {"A100-SXM4-40GB", "a100-sxm4-40gb"},
                                   {"A100-40GB", "a100-sxm4-40gb"},
                                   {"A100-PCIE-40GB", "a100-pcie-40gb"},
                                   {"NVIDIA L40S", "l40s"},
                                   {"A10G", "a10g"},
                                   {"RTX-3090", "rtx-3090"},
                                   {"RTX-4090", "rtx-4090"},
                                   {"L40-48GB", "l40"},
                                   {"H100-SXM5-80GB", "h100-sxm5-80gb"},
                                   {"H100/A100-80GB", "a100-sxm4-80gb"},
                                   {"A100/H100-80GB", "a100-sxm4-80gb"},
                                   {"80GB card", "a100-sxm4-80gb"},
                                   {"80GB", "a100-sxm4-80gb"},
                                   {"40GB card", "a100-sxm4-40gb"},
                                   {"48GB card", "rtx-a6000"},
                                   {"24GB card", "rtx-3090"},
                                   {"24GB", "rtx-3090"},
                                   {"8 GB card (simulated cap)", "rtx-3070"},
                                   {"12 GB card (simulated cap)", "rtx-3060"},
                                   {"16 GB card (simulated cap)", "rtx-4060ti-16gb"},
                                   {"24 GB card (simulated cap)", "rtx-3090"},
                                   {"40 GB card (simulated cap)", "a100-sxm4-40gb"},
                                   {"48 GB card (simulated cap)", "rtx-a6000"},
                                   {"48 GB cap on A100-80GB", "rtx-a6000"},
                                   {"80 GB cap on A100-80GB", "a100-sxm4-80gb"},
                                   {"80 GB card (simulated cap)", "a100-sxm4-80gb"},
                                   {"40GB+", "a100-sxm4-40gb"},
                                   {"RTX-A6000", "rtx-a6000"},
                                   {"RTX-6000-Ada", "rtx-6000-ada"},
                                   {"RTX-A5000", "rtx-a5000"},
                                   {"A40", "a40"},
                                   {"RTX-4070Ti-SUPER-16GB", "rtx-4070ti-super"},
                                   {"RTX-A4000", "rtx-a4000"},
                                   {"V100-SXM2-16GB", "v100-sxm2-16gb"},
                                   {"V100-16GB", "v100-sxm2-16gb"},
                                   {"V100-SXM2-32GB", "v100-sxm2-32gb"},
                                   {"T4", "t4"}};

/// Names of strategies; a question mark in a name is the source's own.
constexpr NamedAs kTuningStrategies[] = {{"single", "single"},
                                         {"fsdp-full-shard", "fsdp"},
                                         {"fsdp (shard)", "fsdp"},
                                         {"fsdp", "fsdp"},
                                         {"fsdp2", "fsdp2"},
                                         {"ddp (FSDP NO_SHARD)", "fsdp"},
                                         {"ddp?", "ddp"},
                                         {"zero3", "zero3"},
                                         {"zero3-on-1-gpu", "zero3"},
                                         {"zero2-on-1-gpu", "zero2"},
                                         {"zero2?", "zero2"},
                                         {"", "single"}};

/// Methods and the kind of adapter that each uses; empty for full fine-tuning.
constexpr NamedAs kTuningMethods[] = {{"full", ""},       {"lora", "lora"}, {"qlora", "lora"},
                                      {"rslora", "lora"}, {"dora", "dora"}, {"ia3", "ia3"}};

/// Optimizers; "fused" after a name selects the fused form.
constexpr NamedAs kTuningOptimizers[] = {{"AdamW fused", "adamw fused"},
                                         {"FusedAdam", "adamw fused"},
                                         {"adamw_torch_fused", "adamw fused"},
                                         {"FusedAdamW", "adamw fused"},
                                         {"adamw_bnb_8bit", "adamw_8bit"},
                                         {"adamw_torch_8bit", "adamw_8bit"},
                                         {"AdamW8bit", "adamw_8bit"},
                                         {"bnb AdamW8bit", "adamw_8bit"},
                                         {"ao AdamW8bit", "adamw_8bit"},
                                         {"adamw_8bit", "adamw_8bit"},
                                         {"paged_adamw_8bit", "adamw_8bit"},
                                         {"PagedAdamW8bit/8-bit (single-device full recipe)", "adamw_8bit"},
                                         {"ao AdamW4bit", "adamw_4bit"},
                                         {"lpmm AdamW4bit", "adamw_4bit"},
                                         {"adamw_torch_4bit", "adamw_4bit"},
                                         {"AdamW", "adamw"},
                                         {"AdamW (HF default, torch; foreach)", "adamw"},
                                         {"adamw_torch", "adamw"},
                                         {"PagedAdamW", "adamw"},
                                         {"Adam", "adam"},
                                         {"DeepSpeedCPUAdam", "adamw"},
                                         {"", "adamw"}};

/// Projections by one letter, as tables of PEFT and litgpt have them.
constexpr NamedAs kTuningTargets[] = {
    {"q", "q_proj"}, {"k", "k_proj"}, {"v", "v_proj"}, {"o", "o_proj"}, {"qkv", "qkv_proj"}};

/// Returns the row with exactly this name; nullptr if there is none.
template <std::size_t N>
const NamedAs* named_row(const NamedAs (&rows)[N], std::string_view name) {
  const auto found = std::ranges::find(rows, name, &NamedAs::theirs);
  return found == std::end(rows) ? nullptr : found;
}

/// Returns the network by the table, else by the catalog's own names; empty if neither has it.
std::string tuned_model_of(const std::string& name) {
  for (const NamedAs& row : kTuningModels) {
    if (bare(name).starts_with(row.theirs)) return std::string(row.ours);
  }
  return model_in_catalog(name);
}

/// Returns the list of adapted projections in TOML from "q,v", "q+k+v+o+mlp" or "all linear"; empty for no
/// text.
std::string tuning_targets_of(const std::string& text) {
  // torchtune's recipes adapt query, value and output of attention, and the feed-forward part.
  if (text.find("default") != std::string::npos) return tuning_targets_of("q,v,o,mlp");
  if (text.find("all") != std::string::npos) return "\"all-linear\"";
  std::string list, word;
  const auto add = [&] {
    if (!word.empty()) {
      const NamedAs* row = named_row(kTuningTargets, word);
      list += fmt::format(", \"{}\"", row != nullptr ? row->ours : std::string_view(word));
    }
    word.clear();
  };
  for (const char c : text) {
    if (c == ',' || c == '+' || c == ' ')
      add();
    else
      word += c;
  }
  add();
  return list.empty() ? std::string() : fmt::format("[{}]", list.substr(2));
}

/// Translates one row. The first reason against it stays; later ones are consequences.
class TuningCaseMaker {
 public:
  explicit TuningCaseMaker(const FineTuningMeasurement& row) : row_(row) { case_.row = &row; }

  FineTuningCase make() {
    name_model();
    name_gpu();
    name_strategy();
    set_method();
    set_weights();
    set_optimizer();
    set_rest();
    return std::move(case_);
  }

 private:
  /// Records why the row cannot be predicted.
  void refuse(std::string why) {
    if (case_.why_not.empty()) case_.why_not = std::move(why);
  }
  /// Adds a setting of the scenario.
  void set(std::string_view key, std::string_view value) {
    case_.settings.push_back(fmt::format("{}={}", key, value));
  }

  void name_model() {
    case_.model = tuned_model_of(row_.model);
    if (case_.model.empty()) refuse(fmt::format("no network of the catalog is called {}", row_.model));
  }
  /// Chooses the GPU; a source without one cannot be predicted.
  void name_gpu() {
    if (const NamedAs* row = named_row(kTuningGpus, row_.gpu))
      case_.gpu = row->ours;
    else
      refuse(row_.gpu.empty() ? "the source names no GPU"
                              : fmt::format("no GPU of the catalog is meant by {}", row_.gpu));
  }
  /// Chooses the strategy; FSDP without sharding is FSDP with an option.
  void name_strategy() {
    const NamedAs* row = named_row(kTuningStrategies, row_.strategy);
    if (row == nullptr) return refuse(fmt::format("the strategy is not told: {}", row_.strategy));
    case_.strategy = row->ours;
    if (row->theirs.find("NO_SHARD") != std::string_view::npos) set("strategy.sharding", "\"no_shard\"");
  }

  /// Sets the adapters. Their own weights are 32 bit only where the source says so.
  void set_method() {
    const NamedAs* row = named_row(kTuningMethods, row_.method);
    if (row == nullptr) return refuse(fmt::format("{} is not modelled", row_.method));
    if (row->ours.empty()) return;
    set("model.adapters.kind", fmt::format("\"{}\"", row->ours));
    if (row_.rank) set("model.adapters.rank", std::to_string(*row_.rank));
    if (const std::string targets = tuning_targets_of(row_.targets); !targets.empty())
      set("model.adapters.targets", targets);
    const bool is_wide = row_.optimizer_dtype.find("fp32") != std::string::npos;
    if (!is_wide) set("model.adapters.fp32", "false");
    // litgpt's scripts set lora_dropout = 0.05.
    if (row_.source == "litgpt") set("model.adapters.dropout", "true");
  }

  /// Returns true for full fine-tuning by accelerate under FSDP, which keeps fp32 shards of what it trains.
  bool has_wide_shards() const {
    return row_.method == "full" && case_.strategy == "fsdp" &&
           row_.optimizer.find("HF") != std::string::npos;
  }

  /// Sets the format of the weights. Some sources quantize the quantization constants as well without naming
  /// it.
  void set_weights() {
    const std::string& w = row_.weights;
    const bool is_nested = w.find("dq") != std::string::npos || row_.source == "fms-acceleration" ||
                           row_.source == "answerai" || w.find("gptq") != std::string::npos;
    if (w == "bf16" && has_wide_shards())
      return set("model.half_weights", "true"), set("model.precision", "\"bf16\"");
    if (w == "bf16" || w == "bf16/fp16") return set("model.weights", "\"bf16\"");
    if (w == "fp16") return set("model.weights", "\"fp16\"");
    if (w.starts_with("nf4") || w.starts_with("int4"))
      return set("model.weights", is_nested ? "\"nf4_double\"" : "\"nf4\"");
    if (w.starts_with("int8")) return set("model.weights", "\"int8\"");
    if (w.find("bf16 autocast") != std::string::npos || w == "bf16 mixed")
      return set("model.precision", "\"bf16\"");
    if (w.find("fp16 autocast") != std::string::npos) return set("model.precision", "\"amp_fp16\"");
    if (row_.notes_say("bf16-mixed")) return set("model.precision", "\"bf16\"");
    if (w == "fp32") return set("model.precision", "\"fp32\"");
    refuse(w.empty() ? "the type of the weights is not told"
                     : fmt::format("weights of {} are not modelled", w));
  }

  /// Sets the optimizer and its form.
  void set_optimizer() {
    const std::size_t in_backward = row_.optimizer.find(" in bwd");
    if (in_backward != std::string::npos) set("model.optimizer_in_backward", "true");
    const NamedAs* row = named_row(kTuningOptimizers, row_.optimizer.substr(0, in_backward));
    if (row == nullptr) return refuse(fmt::format("the optimizer {} is not modelled", row_.optimizer));
    const std::string name(row->ours.substr(0, row->ours.find(' ')));
    set("model.optimizer", fmt::format("\"{}\"", name));
    // torchtune's recipes request the fused form (recipes/configs, `optimizer.fused: True`).
    const bool is_recipe = row_.source == "torchtune" && name == "adamw" && in_backward == std::string::npos;
    if (row->ours.ends_with("fused") || is_recipe) set("model.optimizer_form", "\"fused\"");
  }

  /// Sets how activations are offloaded. torchtune copies what autograd keeps on a stream of its own;
  /// unsloth, axolotl's option for its form, and Answer.AI's save_on_cpu copy on the compute stream.
  void set_offloaded_activations() {
    set("model.offload_activations", row_.source == "torchtune" ? "\"saved_tensors\"" : "\"checkpoints\"");
  }

  /// Sets the offload from texts such as "optimizer+params to cpu (fsdp_cpu_offload, fused AdamW)": the part
  /// before the brackets names what is offloaded and where to.
  void set_offload() {
    const std::string what = row_.offload.substr(0, row_.offload.find(" ("));
    if (what.empty() || what == "none") return;
    if (what.find("activations") != std::string::npos) set_offloaded_activations();
    if (what == "activations") return;
    const bool params = what.find("params") != std::string::npos,
               optimizer = what.find("optimizer") != std::string::npos;
    if (what.find(" to cpu") == std::string::npos || !(params || optimizer))
      return refuse(fmt::format("offload of {} is not modelled", row_.offload));
    if (row_.optimizer.starts_with("ao ")) return refuse("torchao's offload is not modelled");
    if (case_.strategy.starts_with("fsdp")) {
      set("strategy.offload_params", "true");
      // torchtune's recipes give each rank its share of the cores with fsdp_cpu_offload
      // (set_torch_num_threads).
      if (row_.source == "torchtune") set("strategy.bind_cores_to_rank", "true");
      return;
    }
    if (case_.strategy == "single" && row_.optimizer == "DeepSpeedCPUAdam") case_.strategy = "zero2";
    if (!case_.strategy.starts_with("zero"))
      return refuse(fmt::format("{} does not offload", case_.strategy));
    if (optimizer) set("strategy.offload_optimizer", "\"cpu\"");
    if (params) set("strategy.offload_param", "\"cpu\"");
  }

  /// Sets recomputation, lengths, batches and fused kernels, and refuses rows that lack a fact which decides
  /// their value.
  void set_rest() {
    set_offload();
    if (row_.recompute.starts_with("full") || row_.recompute.starts_with("unsloth"))
      set("model.recompute", "true");
    else if (row_.recompute != "none")
      refuse(row_.recompute.empty() ? "recomputation is not told"
                                    : fmt::format("recomputation {} is not modelled", row_.recompute));
    if (row_.packing == "no" && row_.source == "torchtune")
      return refuse("the length of its samples is not told");
    if (row_.source == "litgpt" && case_.strategy == "fsdp")
      return refuse("the peak is that of loading the weights, which is not modelled");
    if (!row_.sequence) return refuse("the length of its samples is not told");
    if (!row_.micro_batch) return refuse("the batch is not told");
    set("model.sequence_length", std::to_string(*row_.sequence));
    if (row_.accumulation && *row_.accumulation > 1 && *row_.accumulation <= 4096)
      set("strategy.accumulation", std::to_string(*row_.accumulation));
    name_fused_kernels();
    if (row_.notes_say("compile") || adds_to_compiled()) set("framework.execution", "\"compiled\"");
    // A time depends on the mean length of samples, which these rows do not state.
    const bool is_time = row_.metric != FineTuningMeasurement::Metric::memory_gb &&
                         row_.metric != FineTuningMeasurement::Metric::fits;
    if (is_time && (row_.notes_say("LONGEST") || row_.notes_say("shorter") || row_.notes_say("unpadded") ||
                    row_.source == "litgpt"))
      refuse("the mean length of its samples is not told");
    if (row_.notes_say("load_state") || row_.notes_say("weights only"))
      refuse("the row is not about a training step");
  }

  /// Returns true for rows of torchtune's table of flags (README, table 2, first in PR 2003), which keeps
  /// each flag for the rows below it: compilation comes before the loss in parts, and that before
  /// recomputation.
  bool adds_to_compiled() const {
    const bool is_in_table =
        row_.page.find("table 2") != std::string::npos || row_.page.find("PR #2003") != std::string::npos;
    return row_.source == "torchtune" && is_in_table &&
           (row_.notes_say("hunked") || row_.recompute.starts_with("full"));
  }

  /// Sets fused kernels. torchtune's table adds flags one by one, the loss in parts before recomputation, and
  /// its recipes have both. "foak" are the kernels of fms-acceleration's plugin of that name, which are
  /// unsloth's.
  void name_fused_kernels() {
    constexpr NamedAs kWords[] = {{"(foak)", "\"rms_norm\", \"rope\", \"cross_entropy\""},
                                  {"Liger", "\"linear_cross_entropy\""},
                                  {"cut cross entropy", "\"linear_cross_entropy\""},
                                  {"FA2", "\"flash_attention\""},
                                  {"hunked", "\"linear_cross_entropy\""}};
    // litgpt uses torch's own GELU, which is one kernel.
    std::string list = row_.source == "litgpt" ? ", \"gelu\"" : "";
    if (row_.recompute.starts_with("unsloth")) list += ", \"unsloth\"";
    for (const NamedAs& word : kWords) {
      if (row_.notes_say(word.theirs)) list += fmt::format(", {}", word.ours);
    }
    if (row_.source == "torchtune" && row_.recompute.starts_with("full") && !row_.notes_say("hunked"))
      list += ", \"linear_cross_entropy\"";
    if (!list.empty()) set("model.fused_kernels", fmt::format("[{}]", list.substr(2)));
  }

  const FineTuningMeasurement& row_;
  FineTuningCase case_;
};

}  // namespace

FineTuningCase fine_tuning_case(const FineTuningMeasurement& row) { return TuningCaseMaker(row).make(); }

}  // namespace foretrain

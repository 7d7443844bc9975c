// The table [parallel]. Each key is a member of the run; divisibility is checked when the number of GPUs is
// known.
#include "sim/scenario/sections/parallel_section.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/named_rows.hpp"
#include "sim/base/names.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/sections/framework_section.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace {

/// Short name of the run that this table describes.
using J = LargeModelRun;
constexpr std::int64_t kMostDegree = kMostParallelDegree;

/// A degree of parallelism.
template <auto Member>
Takes<J> degree() {
  return takes::integer<&J::degrees, Member>(1, kMostDegree);
}

/// Reads the framework; an unknown one is reported.
void read_llm_framework(TableReader& table, std::string_view key, J& job) {
  const auto name = table.string(key);
  if (!name) return;
  if (const auto found = find_llm_framework(*name))
    job.framework = *found;
  else
    table.report(table.span_of(key), fmt::format("unknown framework \"{}\"", name->substr(0, 60)),
                 did_you_mean(*name, names_of_rows(layer_kernels())));
}

/// The framework, and the modules of selective recomputation.
Takes<J> framework() {
  return {fmt::format("{}", fmt::join(names_of_rows(layer_kernels()), ", ")), read_llm_framework};
}

/// Reads the modules that selective recomputation computes anew.
void read_layer_modules(TableReader& table, std::string_view key, J& job) {
  const auto names = table.string(key);
  if (!names) return;
  if (const auto found = find_layer_modules(*names))
    job.recompute_modules = *found;
  else
    table.report(table.span_of(key), fmt::format("\"{}\" names no modules of a layer", names->substr(0, 60)),
                 "some of " + names_of_layer_modules(0xFF));
}

/// Offers the names of all modules.
Takes<J> layer_modules() { return {names_of_layer_modules(0xFF), read_layer_modules}; }

/// Keys of degrees and batches. Batches count sequences; "1M" would be tokens.
Keys<J> degree_keys() {
  return {
      // Ranks that share a layer, a sequence or the experts.
      {"tensor", degree<&Degrees::tensor>(), "8", "1", "ranks that share every layer's matrices"},
      {"pipeline", degree<&Degrees::pipeline>(), "4", "1", "stages, each with some of the layers"},
      {"virtual_stages", degree<&Degrees::virtual_stages>(), "5", "1",
       "chunks of layers on each stage; above 1 with the schedule `interleaved`"},
      {"context", degree<&Degrees::context>(), "2", "1", "ranks that share every sequence's tokens"},
      {"expert", degree<&Degrees::expert>(), "8", "1",
       "ranks that share a layer's experts; they are among those of "
       "data, context and tensor"},
      {"expert_tensor", degree<&Degrees::expert_tensor>(), "2", "1",
       "ranks that share each expert's matrices"},
      {"data", degree<&Degrees::data>(), "16", "what the GPUs leave", "replicas of the model"},
      // Batches and lengths, in sequences and tokens.
      {"micro_batch", takes::integer<&J::micro_batch>(1, kMostMicroBatch), "1", "1",
       "sequences that pass the stages together"},
      {"global_batch", takes::integer<&J::global_batch>(1, kMostGlobalBatch), "1024",
       "four micro-batches for each replica and stage, one where there is one stage",
       "sequences of an optimizer step"},
      {"sequence", takes::integer<&J::sequence>(1, kMostTokens), "8192", "the network's",
       "tokens of a sequence"},
  };
}

/// Keys of how the run trains: framework, precision, schedule, sharding, recomputation, offload.
Keys<J> way_keys() {
  return {
      // Framework, precision and schedule.
      {"framework", framework(), "\"megatron\"", "megatron",
       "whose kernels, calls and rules a step is made of"},
      {"precision",
       takes::choice<&J::precision>(std::vector<Choice<KernelPrecision>>{{"fp16", KernelPrecision::fp16},
                                                                         {"bf16", KernelPrecision::bf16},
                                                                         {"fp8", KernelPrecision::fp8},
                                                                         {"fp4", KernelPrecision::fp4}}),
       "\"fp8\"", "model.precision", "of linear layers' products; gradients and the optimizer are fp32"},
      {"wide_layers", takes::integer<&J::wide_layers>(0, kMostDegree), "8", "4",
       "of the last layers, so many keep 16 bit where precision is fp4"},
      {"next_tokens", takes::integer<&J::next_tokens>(0, 16), "1", "0",
       "further tokens that are predicted, each by a layer and the head once more (DeepSeek-V3)"},
      {"schedule",
       takes::choice<&J::schedule>(
           std::vector<Choice<PipelineSchedule>>{{"afab", PipelineSchedule::afab},
                                                 {"1f1b", PipelineSchedule::one_f_one_b},
                                                 {"interleaved", PipelineSchedule::interleaved},
                                                 {"zb-h1", PipelineSchedule::zb_h1},
                                                 {"zbv", PipelineSchedule::zbv},
                                                 {"dualpipe", PipelineSchedule::dualpipe}}),
       "\"interleaved\"", "1f1b, with virtual_stages interleaved", "in which order stages run their passes"},
      // State that data-parallel and tensor ranks share.
      {"shard",
       takes::choice<&J::sharding>(
           std::vector<Choice<ModelSharding>>{{"none", ModelSharding::none},
                                              {"optimizer", ModelSharding::optimizer},
                                              {"gradients", ModelSharding::gradients},
                                              {"parameters", ModelSharding::parameters}}),
       "\"parameters\"", "optimizer",
       "what data-parallel ranks share out: zero1 and Megatron's distributed optimizer, zero2, zero3 and "
       "FSDP"},
      {"shard_group", takes::integer<&J::shard_group>(1, kMostDegree), "8", "all of them",
       "so many neighbouring ranks share out, and all such groups hold the same (HSDP)"},
      {"sequence_parallel", takes::flag<&J::sequence_parallel>(), "false", "true",
       "norms and residuals are cut over tensor ranks as well"},
      // Memory against time: recomputation and offload.
      {"recompute",
       takes::choice<&J::recompute>(std::vector<Choice<Recompute>>{{"none", Recompute::none},
                                                                   {"selective", Recompute::selective},
                                                                   {"full", Recompute::full},
                                                                   {"save_qkv", Recompute::save_qkv}}),
       "\"full\"", "none",
       "what of a layer backward computes anew: nothing, what the framework calls selective (the attention "
       "core; torchtitan: all but every second product), all, all but queries, keys and values"},
      {"recompute_modules", layer_modules(), "\"core_attn, layernorm\"", "what the framework calls selective",
       "of Megatron-LM's selective recomputation, with commas between"},
      {"recomputed_layers", takes::integer<&J::recomputed_layers>(1, kMostDegree), "4", "all of them",
       "so many layers of each stage do"},
      {"recomputed_share", takes::number<&J::recomputed_share>(0, 1), "0.5", "1",
       "this share of each stage's layers does (every second layer: 0.5), where recomputed_layers is not "
       "given"},
      {"offload",
       takes::choice<&J::offload>(std::vector<Choice<Offload>>{{"none", Offload::none},
                                                               {"optimizer", Offload::optimizer},
                                                               {"activations", Offload::activations}}),
       "\"optimizer\"", "none", "what is kept in host memory"},
      {"offloaded_layers", takes::integer<&J::offloaded_layers>(1, kMostDegree), "20", "all of them",
       "so many layers of each stage keep their activations there (cpu_offloading_num_layers)"},
  };
}

/// Attention kernels; `unfused` exists for large models only.
std::vector<Choice<AttentionKernel>> attention_choices() {
  std::vector<Choice<AttentionKernel>> all = fused_attention_choices();
  all.push_back({"unfused", AttentionKernel::unfused});
  return all;
}

/// Keys of exchanges, of their overlap, and of the bytes of gradients and optimizer states.
Keys<J> exchange_keys() {
  return {
      // Exchanges of context and expert ranks.
      {"context_exchange",
       takes::choice<&J::context_exchange>(
           std::vector<Choice<ContextExchange>>{{"ring", ContextExchange::ring},
                                                {"all_gather", ContextExchange::all_gather},
                                                {"ulysses", ContextExchange::ulysses}}),
       "\"ulysses\"", "ring", "how context ranks see each other's keys and values"},
      {"dispatch",
       takes::choice<&J::dispatch>(
           std::vector<Choice<TokenDispatch>>{{"all_gather", TokenDispatch::all_gather},
                                              {"all_to_all", TokenDispatch::all_to_all},
                                              {"deep_ep", TokenDispatch::deep_ep}}),
       "\"deep_ep\"", "all_to_all", "how tokens get to their experts"},
      {"overlap_experts", takes::flag<&J::overlaps_experts>(), "true", "false",
       "all-to-alls of one micro-batch run beside the kernels of another"},
      {"capacity_factor", takes::number<&J::capacity_factor>(0, 1000), "1.25", "no token is dropped",
       "an expert takes so many times its even share of tokens, and no more"},
      {"imbalance", takes::number<&J::imbalance>(1, 1000), "1.0", "1.1",
       "tokens of the busiest expert rank over the mean, where none is dropped"},
      // Overlap, kernels and skew of tensor ranks.
      {"tensor_overlap",
       takes::choice<&J::tensor_overlap>(
           std::vector<Choice<TensorOverlap>>{{"none", TensorOverlap::none},
                                              {"backward", TensorOverlap::backward},
                                              {"pieces", TensorOverlap::pieces}}),
       "\"pieces\"", "the framework's own",
       "which of tensor ranks' exchanges run beside products: none, backward's, pieces of each product (user "
       "buffers of Transformer Engine, async TP)"},
      {"attention", takes::choice<&J::attention>(attention_choices()), "\"flash-1\"", "the framework's own",
       "whose fused attention: the best of the GPU's generation, or a version of FlashAttention; unfused "
       "keeps all scores in memory"},
      {"pipeline_skew", takes::latency<&J::pipeline_skew>(), "\"205 us\"", "the framework's own",
       "in a pipeline, longer for each exchange of tensor ranks and each of them"},
      {"overlap_gradients", takes::flag<&J::overlaps_gradients>(), "false", "the framework's own",
       "gradients are summed beside the last backward pass"},
      // Bytes of each gradient and optimizer state.
      {"gradient_bytes", takes::number<&J::gradient_bytes>(1, 8), "2", "4",
       "of each value when data-parallel ranks sum gradients"},
      {"moment_bytes", takes::number<&J::moment_bytes>(1, 4), "2", "4",
       "of each of the optimizer's two moments (Megatron-LM's precision-aware optimizer: 2)"},
      {"master_bytes", takes::number<&J::master_bytes>(0, 4), "2", "4",
       "of the optimizer's copy of each weight (apex's DistributedFusedAdam with remainders: 2)"},
      // Loss, reserved memory and host.
      {"loss_chunks", takes::integer<&J::loss_chunks>(1, 1024), "8", "1",
       "parts of the sequence that head and loss take in turn (torchtitan's ChunkedCELoss: 8): norm and head "
       "are gathered for each use, and the head is reduced apart"},
      {"record_streams", takes::flag<&J::record_streams>(), "true", "false",
       "PyTorch before 2.2: memory of what tensor ranks scatter stays reserved until the GPU has come to it"},
      {"cuda_graphs", takes::flag<&J::cuda_graphs>(), "true", "false",
       "passes are replayed; the host launches nothing"},
  };
}

}  // namespace

/// The order is that of the reference page.
const Keys<LargeModelRun>& parallel_keys() {
  static const Keys<LargeModelRun> kKeys = degree_keys() + way_keys() + exchange_keys();
  return kKeys;
}

/// The setting is parsed as a line of TOML, so that the same keys and checks apply.
void set_parallel(const std::string& key, const std::string& value, LargeModelRun& job) {
  constexpr std::string_view kTable = "parallel.";
  if (!key.starts_with(kTable)) return;
  const SourceText text{"parallel", key.substr(kTable.size()) + " = " + value + "\n"};
  Diagnostics diagnostics(text);
  const Table table = parse_toml(text, diagnostics);
  TableReader reader(table, "parallel", diagnostics);
  read_keys_over(reader, parallel_keys(), job);
  reader.finish();
  diagnostics.throw_if_any();
}

namespace {

/// Returns the precision of products for a precision of [model].
KernelPrecision precision_of(Precision precision) {
  if (precision == Precision::fp8) return KernelPrecision::fp8;
  return precision == Precision::amp_fp16 ? KernelPrecision::fp16 : KernelPrecision::bf16;
}

/// Returns default numbers of GPUs: 1, 2, 4, … times those of one replica, up to the cluster.
std::vector<int> usual_gpus_of(const LargeModelRun& job, std::int64_t most) {
  // A stated data degree fixes the number of GPUs.
  const std::int64_t fewest = fewest_gpus_of(job);
  if (job.degrees.data > 0) return {static_cast<int>(fewest)};
  std::vector<int> gpus;
  for (std::int64_t n = fewest; n <= std::max(most, fewest); n *= 2) gpus.push_back(static_cast<int>(n));
  return gpus;
}

/// Reports faults of the run at their keys, each once for all numbers of GPUs.
void report_faults(TableReader& parallel, const Scenario& scenario) {
  // Degrees that no number of the cluster's GPUs can hold are one mistake.
  const std::int64_t fewest = fewest_gpus_of(*scenario.parallel), room = gpus_of_job(scenario);
  if (fewest > room)
    return parallel.report(
        parallel.span_of("tensor"),
        fmt::format("these degrees take {} GPUs, cluster {} has {}", fewest, scenario.cluster.name, room),
        "smaller degrees");
  std::set<std::string> reported;
  for (const int gpus : scenario.gpus) {
    for (const JobFault& fault : faults_of(job_on(*scenario.parallel, gpus), gpus)) {
      if (!reported.insert(fault.key + fault.message).second) continue;
      parallel.report(parallel.span_of(fault.key), fmt::format("{}: {}", counted(gpus, "GPU"), fault.message),
                      fault.hint);
    }
  }
}

/// Large models are trained in 16 bits or less, so other precisions become bf16.
void settle_products(Scenario& scenario) {
  if (is_half(scenario.workload.precision)) return;
  scenario.workload.precision = Precision::bf16;
  scenario.warnings.emplace_back("[parallel] runs products in bf16: model.precision = \"bf16\", or \"fp8\"");
}

/// Adds warnings about the largest number of GPUs. If all numbers were mistakes, there is none.
void add_warnings(Scenario& scenario) {
  if (scenario.gpus.empty()) return;
  const LargeModelRun& job = *scenario.parallel;
  for (std::string& warning : warnings_of(job_on(job, scenario.gpus.back()), scenario.cluster.node.gpus))
    scenario.warnings.push_back(std::move(warning));
}

}  // namespace

/// Values that [parallel] and [model] share are taken from [model] unless the table states them.
void read_parallel(TableReader& parallel, Scenario& scenario) {
  LargeModelRun job;
  // 0 means not stated; job_on() replaces both.
  job.degrees.data = 0, job.global_batch = 0;
  settle_products(scenario);
  job.precision = precision_of(scenario.workload.precision);
  read_keys(parallel, parallel_keys(), job);
  const RecognizedTransformer seen = recognize_transformer(scenario.model);
  // Only language models of equal decoder layers can be cut by degrees.
  if (!seen.shape && !scenario.model.layers.empty())
    parallel.report(parallel.span_of("tensor"),
                    fmt::format("{} has no degrees: {}", scenario.model.name, seen.why_not),
                    "[parallel] is for language models of equal decoder layers, as llama3_8b");
  // A cluster that could not be read is reported already, and there is nothing to check the degrees against.
  if (!seen.shape || gpu_count(scenario.cluster) == 0) return;
  job.shape = *seen.shape;
  // The network's own length is the default.
  if (job.sequence <= 1) job.sequence = job.shape.sequence;
  // Several chunks on a stage need the interleaved schedule.
  if (job.degrees.virtual_stages > 1 && job.schedule == PipelineSchedule::one_f_one_b)
    job.schedule = PipelineSchedule::interleaved;
  // [model] and [parallel] share one global batch.
  if (scenario.global_batch && job.global_batch == 0) job.global_batch = *scenario.global_batch;
  if (job.global_batch > 0) scenario.global_batch = job.global_batch;
  scenario.workload.batch_per_gpu = job.micro_batch;
  scenario.parallel = job;
  // Default numbers of GPUs are replaced by those that the degrees can use.
  if (!scenario.lists_gpus) scenario.gpus = usual_gpus_of(job, gpus_of_job(scenario));
  report_faults(parallel, scenario);
  add_warnings(scenario);
}

}  // namespace foretrain

// Options are those of the frameworks' own parsers. What a framework reads from a file becomes lines of the
// script, or comments that say what the file must hold.
#include "sim/import/jobs/large_model_program.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

/// Returns DeepSpeed's stage of ZeRO: 0 none, 1 optimizer states, 2 gradients, 3 parameters.
int zero_stage(ModelSharding sharding) { return static_cast<int>(sharding); }

/// Returns an option with the number of steps; empty for 0 steps.
std::string steps_option(std::string_view form, std::int64_t steps) {
  return steps > 0 ? fmt::format(fmt::runtime(form), steps) : std::string();
}

/// Returns the options of the network, as megatron/training/arguments.py has them.
std::string megatron_model(const LargeModelRun& job) {
  const TransformerShape& s = job.shape;
  std::string line =
      fmt::format(" --num-layers {} --hidden-size {} --ffn-hidden-size {} --num-attention-heads {}", s.layers,
                  s.hidden, s.inner, s.heads);
  if (s.kv_heads != s.heads && !s.latent)
    line += fmt::format(" --group-query-attention --num-query-groups {}", s.kv_heads);
  if (s.latent) line += " --multi-latent-attention";
  if (s.gated) line += " --swiglu";
  if (!s.tied) line += " --untie-embeddings-and-output-weights";
  if (s.experts)
    line += fmt::format(" --num-experts {} --moe-router-topk {} --moe-ffn-hidden-size {} --moe-grouped-gemm",
                        s.experts->experts, s.experts->top_k, s.experts->width);
  return line + fmt::format(" --seq-length {} --max-position-embeddings {}", job.sequence, job.sequence);
}

/// Returns the options of recomputation: selective, full for some layers of each stage, or full for all.
std::string megatron_recompute(const LargeModelRun& job) {
  if (job.recompute == Recompute::selective) return " --recompute-granularity selective";
  if (job.recompute == Recompute::none) return "";
  if (job.recomputed_layers > 0)
    return fmt::format(" --recompute-granularity full --recompute-method block --recompute-num-layers {}",
                       job.recomputed_layers);
  return " --recompute-granularity full --recompute-method uniform --recompute-num-layers 1";
}

/// Returns the options of the degrees of parallelism. Megatron-LM counts layers of a virtual stage, not the
/// stages.
std::string megatron_degrees(const LargeModelRun& job) {
  const Degrees& d = job.degrees;
  std::string line =
      fmt::format(" --tensor-model-parallel-size {} --pipeline-model-parallel-size {}", d.tensor, d.pipeline);
  if (d.context > 1) line += fmt::format(" --context-parallel-size {}", d.context);
  if (d.expert > 1) line += fmt::format(" --expert-model-parallel-size {}", d.expert);
  if (d.expert_tensor > 1) line += fmt::format(" --expert-tensor-parallel-size {}", d.expert_tensor);
  if (d.virtual_stages > 1)
    line += fmt::format(" --num-layers-per-virtual-pipeline-stage {}",
                        job.shape.layers / (d.pipeline * d.virtual_stages));
  if (d.tensor > 1 && job.sequence_parallel) line += " --sequence-parallel";
  return line;
}

/// Returns a comment for schedules that Megatron-LM and DeepSpeed have no option for; empty for theirs.
std::string other_schedule(const LargeModelRun& job) {
  const bool is_theirs =
      job.schedule == PipelineSchedule::one_f_one_b || job.schedule == PipelineSchedule::interleaved;
  if (is_theirs || job.degrees.pipeline == 1) return "";
  return fmt::format("# no option asks for the schedule {}: as it stands this runs 1f1b\n",
                     name_of(job.schedule));
}

/// Returns torchtitan's name of a schedule of PyTorch; empty for 1F1B, its default. Of DualPipe it has only
/// the V-shaped half.
std::string_view schedule_of_torch(PipelineSchedule schedule) {
  constexpr std::string_view kNames[] = {
      "GPipe", "", "Interleaved1F1B", "InterleavedZeroBubble", "ZBVZeroBubble", "DualPipeV"};
  return kNames[static_cast<std::size_t>(schedule)];
}

/// Returns the options of the batch and the steps.
std::string megatron_batch(const LargeModelRun& job, std::int64_t steps) {
  return fmt::format(" --micro-batch-size {} --global-batch-size {}{}", job.micro_batch, job.global_batch,
                     steps_option(" --train-iters {}", steps));
}

/// Returns the program of Megatron-LM.
LargeModelProgram megatron(const LargeModelRun& job, std::int64_t steps) {
  std::string line = "pretrain_gpt.py" + megatron_degrees(job);
  // Megatron-LM's own optimizer partitions optimizer states; its FSDP partitions gradients and parameters.
  if (job.sharding == ModelSharding::optimizer)
    line += " --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather";
  if (job.sharding == ModelSharding::gradients)
    line += " --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads";
  if (job.sharding == ModelSharding::parameters)
    line += " --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params";
  line += megatron_recompute(job) + megatron_batch(job, steps) + megatron_model(job);
  if (job.framework == LlmFramework::megatron) line += " --transformer-impl local";
  line += job.precision == KernelPrecision::fp8 ? " --bf16 --fp8-format hybrid" : " --bf16";
  return {
      line,
      other_schedule(job) +
          "export CUDA_DEVICE_MAX_CONNECTIONS=1    # products and exchanges in the order of their calls\n",
      Launcher::torchrun};
}

/// Returns the program of torchtitan, whose options are those of torchtitan/config: [parallelism] and
/// [training].
LargeModelProgram torchtitan(const LargeModelRun& job, std::int64_t steps) {
  const Degrees& d = job.degrees;
  // Ranks that replicate the shards are the rest of data parallelism.
  const int shard = job.shards_parameters() ? std::max(1, job.shards() / d.context) : 1;
  std::string line = fmt::format(
      "-m torchtitan.train --job.config_file '<model>.toml' --parallelism.tensor_parallel_degree {} "
      "--parallelism.context_parallel_degree {} --parallelism.data_parallel_shard_degree {} "
      "--parallelism.data_parallel_replicate_degree {}",
      d.tensor, d.context, shard, d.data / shard);
  if (d.expert > 1) line += fmt::format(" --parallelism.expert_parallel_degree {}", d.expert);
  if (d.pipeline > 1)
    line += fmt::format(
        " --parallelism.pipeline_parallel_degree {} --parallelism.pipeline_parallel_microbatch_size {}",
        d.pipeline, job.micro_batch);
  if (const std::string_view schedule = schedule_of_torch(job.schedule); d.pipeline > 1 && !schedule.empty())
    line += fmt::format(" --parallelism.pipeline_parallel_schedule {}", schedule);
  if (job.recompute != Recompute::none)
    line += fmt::format(" --activation_checkpoint.mode {}", name_of(job.recompute));
  // The local batch of a pipeline holds all micro-batches of a step.
  line +=
      fmt::format(" --training.local_batch_size {} --training.global_batch_size {} --training.seq_len {}{}",
                  d.pipeline > 1 ? job.global_batch / d.data : job.micro_batch, job.global_batch,
                  job.sequence, steps_option(" --training.steps {}", steps));
  return {line, "", Launcher::torchrun};
}

/// Returns the program of nanotron, which reads everything from its YAML; comments say what that must hold.
LargeModelProgram nanotron(const LargeModelRun& job, std::int64_t steps) {
  const Degrees& d = job.degrees;
  std::string before = "# config.yaml has to say:\n";
  before +=
      fmt::format("#   parallelism: {{dp: {}, tp: {}, pp: {}, expert_parallel_size: {}, pp_engine: {},\n",
                  d.data, d.tensor, d.pipeline, d.expert, name_of(job.schedule));
  before += fmt::format("#     tp_mode: {}, tp_linear_async_communication: {}}}\n",
                        job.sequence_parallel ? "REDUCE_SCATTER" : "ALL_REDUCE", job.sequence_parallel);
  before += fmt::format(
      "#   tokens: {{micro_batch_size: {}, batch_accumulation_per_replica: {}, sequence_length: {}{}}}\n",
      job.micro_batch, job.micro_batches(), job.sequence, steps_option(", train_steps: {}", steps));
  before += fmt::format("#   optimizer: {{zero_stage: {}, accumulate_grad_in_fp32: true}}\n",
                        job.sharding == ModelSharding::none ? 0 : 1);
  before += "export CUDA_DEVICE_MAX_CONNECTIONS=1    # products and exchanges in the order of their calls\n";
  return {"run_train.py --config-file config.yaml", before, Launcher::torchrun};
}

/// Returns the program of Megatron-DeepSpeed: degrees as for Megatron-LM, and the partition of states by
/// DeepSpeed's JSON, which the script writes.
LargeModelProgram deepspeed(const LargeModelRun& job, std::int64_t steps) {
  std::string before =
      other_schedule(job) +
      fmt::format(
          "echo '{{\"train_batch_size\": {}, \"train_micro_batch_size_per_gpu\": {}, \"bf16\": "
          "{{\"enabled\": true}}, \"zero_optimization\": {{\"stage\": {}{}}}}}' > ds_config.json\n",
          job.global_batch, job.micro_batch, zero_stage(job.sharding),
          job.offload == Offload::optimizer ? ", \"offload_optimizer\": {\"device\": \"cpu\"}" : "");
  std::string line = "pretrain_gpt.py --deepspeed --deepspeed_config ds_config.json";
  line += fmt::format(" --zero-stage {}", zero_stage(job.sharding)) + megatron_degrees(job);
  if (job.recompute != Recompute::none)
    line += " --checkpoint-activations --deepspeed-activation-checkpointing";
  line += megatron_batch(job, steps) + megatron_model(job) + " --bf16";
  return {line, before, Launcher::deepspeed};
}

/// Returns the program of llm-foundry's scripts/train, with keys of its YAML as arguments.
LargeModelProgram llm_foundry(const LargeModelRun& job, std::int64_t steps) {
  const bool is_sharded = job.sharding != ModelSharding::none;
  const std::string_view sharding =
      job.sharding == ModelSharding::parameters ? "FULL_SHARD" : "SHARD_GRAD_OP";
  std::string line = fmt::format(
      "train.py '<model>.yaml' max_seq_len={} global_train_batch_size={} device_train_microbatch_size={}",
      job.sequence, job.global_batch, job.micro_batch);
  if (is_sharded) line += fmt::format(" fsdp_config.sharding_strategy={}", sharding);
  line += fmt::format(" fsdp_config.activation_checkpointing={}", job.recompute != Recompute::none);
  return {line + steps_option(" max_duration={}ba", steps), "", Launcher::torchrun};
}

}  // namespace

LargeModelProgram large_model_program(const LargeModelRun& job, std::int64_t steps) {
  switch (job.framework) {
    case LlmFramework::megatron:
    case LlmFramework::megatron_te:
      return megatron(job, steps);
    case LlmFramework::torchtitan:
      return torchtitan(job, steps);
    case LlmFramework::nanotron:
      return nanotron(job, steps);
    case LlmFramework::deepspeed:
    case LlmFramework::megatron_deepspeed:
      return deepspeed(job, steps);
    case LlmFramework::llm_foundry:
      return llm_foundry(job, steps);
    case LlmFramework::internevo:
    case LlmFramework::maxtext:
    case LlmFramework::pytorch:
      break;
  }
  return {};
}

void set_program(const LargeModelRun& job, std::int64_t steps, JobPlan& plan) {
  const LargeModelProgram own = large_model_program(job, steps);
  // why_not_written() refuses such a plan and names the framework.
  if (own.program.empty()) plan.unknown_program = job.kernels().name;
  plan.program = own.program, plan.before = own.before, plan.launcher = own.launcher;
}

}  // namespace foretrain

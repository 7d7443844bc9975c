// A layout in the options of Megatron-LM, torchtitan and nanotron.
#include <algorithm>

#include <fmt/format.h>

#include "sim/report/plan/plan_reports.hpp"

namespace foretrain {

namespace {

/// megatron/training/arguments.py.
std::string megatron_line(const LargeModelJob& job) {
  const Degrees& d = job.degrees;
  std::string line = fmt::format(
      "torchrun … pretrain_gpt.py --tensor-model-parallel-size {} --pipeline-model-parallel-size {}",
      d.tensor, d.pipeline);
  if (d.context > 1) line += fmt::format(" --context-parallel-size {}", d.context);
  if (d.expert > 1) line += fmt::format(" --expert-model-parallel-size {}", d.expert);
  if (d.expert_tensor > 1) line += fmt::format(" --expert-tensor-parallel-size {}", d.expert_tensor);
  if (d.virtual_stages > 1)
    line += fmt::format(" --num-layers-per-virtual-pipeline-stage {}",
                        job.shape.layers / (d.pipeline * d.virtual_stages));
  if (d.tensor > 1 && job.sequence_parallel) line += " --sequence-parallel";
  if (job.sharding == ModelSharding::optimizer)
    line += " --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather";
  if (job.sharding == ModelSharding::parameters)
    line += " --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params";
  if (job.recompute == Recompute::full) line += " --recompute-granularity full --recompute-method uniform";
  if (job.recompute == Recompute::selective) line += " --recompute-granularity selective";
  return line + fmt::format(" --micro-batch-size {} --global-batch-size {} --seq-length {}", job.micro_batch,
                            job.global_batch, job.sequence);
}

/// torchtitan/config: [parallelism] and [training] as options of run_train.sh.
std::string torchtitan_line(const LargeModelJob& job) {
  const Degrees& d = job.degrees;
  const int shard = job.shards_parameters() ? std::max(1, job.shards() / d.context) : 1;
  std::string line = fmt::format(
      "./run_train.sh --parallelism.tensor_parallel_degree {} --parallelism.context_parallel_degree {} "
      "--parallelism.data_parallel_shard_degree {} --parallelism.data_parallel_replicate_degree {}",
      d.tensor, d.context, shard, d.data / shard);
  if (d.pipeline > 1)
    line += fmt::format(
        " --parallelism.pipeline_parallel_degree {} --parallelism.pipeline_parallel_microbatch_size {}",
        d.pipeline, job.micro_batch);
  return line +
         fmt::format(" --training.local_batch_size {} --training.global_batch_size {} --training.seq_len {}",
                     d.pipeline > 1 ? job.global_batch / d.data : job.micro_batch, job.global_batch,
                     job.sequence);
}

/// nanotron's YAML as overrides of one line.
std::string nanotron_line(const LargeModelJob& job) {
  const Degrees& d = job.degrees;
  return fmt::format(
      "run_train.py --config-file …  # parallelism: dp {}, tp {}, pp {}; tokens: micro_batch_size {}, "
      "batch_accumulation_per_replica {}, sequence_length {}",
      d.data, d.tensor, d.pipeline, job.micro_batch, job.micro_batches(), job.sequence);
}

}  // namespace

std::string launch_line(const ModelLayout& layout) {
  switch (layout.job.framework) {
    case LlmFramework::megatron:
    case LlmFramework::megatron_te:
      return megatron_line(layout.job);
    case LlmFramework::torchtitan:
      return torchtitan_line(layout.job);
    case LlmFramework::nanotron:
      return nanotron_line(layout.job);
    default:
      return {};
  }
}

}  // namespace foretrain

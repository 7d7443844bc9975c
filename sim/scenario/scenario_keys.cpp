// One row per key, in the order of the tables.
#include "sim/scenario/scenario_keys.hpp"

namespace foretrain {

const std::vector<ScenarioKey>& scenario_keys() {
  static const std::vector<ScenarioKey> keys{
      {"note", "text", "\"from the tutorial\"", "none", "shown under the table"},
      {"model.name", "name or path", "\"resnet50\"", "required", "a network of models/ or a file"},
      {"model.precision", "fp32, tf32, amp_fp16, bf16", "\"fp32\"", "fp32",
       "fp32 is PyTorch's default: TF32 inside convolutions since Ampere; amp_fp16 is autocast with a GradScaler"},
      {"model.batch_per_gpu", "integer", "32", "32", "samples per GPU and micro-step: weak scaling"},
      {"model.global_batch", "integer", "256", "none", "samples per step over all GPUs: strong scaling; excludes batch_per_gpu"},
      {"model.optimizer", "sgd, momentum, adam, adamw, adadelta", "\"sgd\"", "sgd", "which kernels update the parameters"},
      {"model.optimizer_form", "foreach, for_loop, fused", "\"foreach\"", "foreach", "PyTorch before 2.0 runs for_loop"},
      {"model.weight_decay", "true, false", "true", "false", "one more pass over the parameters for SGD and Adam"},
      {"data.samples", "integer", "1_281_167", "unknown", "per epoch, over all GPUs; without it an epoch is one step"},
      {"data.sample_bytes", "size", "\"588 KiB\"", "input in fp32 plus label", "what is copied to the GPU per sample"},
      {"data.decode", "time", "\"1.6 ms\"", "0 s",
       "reading and augmenting one sample on the reference core (Zen 5); multiplied by the cluster's host.slowdown"},
      {"data.workers_per_gpu", "integer", "10", "4", "loader processes per GPU; 0 loads in the main thread"},
      {"data.prefetch", "integer", "2", "2", "batches each worker runs ahead"},
      {"data.cores_per_gpu", "integer", "10", "the node's cores divided by its GPUs",
       "CPU cores of the job per GPU, which the workers share"},
      {"data.pinned", "true, false", "true", "true", "pin_memory: batches are copied through page-locked memory"},
      {"data.persistent_workers", "true, false", "true", "false", "workers are not started anew for each epoch"},
      {"data.drop_last", "true, false", "true", "false", "the last partial batch is left out"},
      {"strategy.name", "a strategy", "\"ddp\"", "ddp", "see `foretrain list strategies`"},
      {"strategy.bucket_cap", "size", "\"25 MiB\"", "25 MiB", "ddp: limit of every gradient bucket but the first"},
      {"strategy.first_bucket", "size", "\"1 MiB\"", "1 MiB", "ddp: limit of the first bucket"},
      {"strategy.accumulation", "integer", "4", "1", "micro-steps per optimizer step; gradients are exchanged in the last one (no_sync)"},
      {"strategy.find_unused_parameters", "true, false", "true", "false", "ddp: buckets then follow registration order"},
      {"strategy.static_graph", "true, false", "true", "false", "ddp: promises that the graph never changes"},
      {"strategy.gradient_as_bucket_view", "true, false", "true", "false", "ddp: no copy back from the buckets, less memory"},
      {"strategy.broadcast_buffers", "true, false", "false", "true", "ddp: BatchNorm buffers are broadcast before every forward pass"},
      {"strategy.wrap_one_gpu", "true, false", "true", "false", "ddp: wrap the model even when there is one process"},
      {"cluster.name", "name or path", "\"puhti\"", "required", "a cluster of topologies/ or a file"},
      {"cluster.layout", "packed, spread", "\"packed\"", "packed",
       "fill node after node, or spread the ranks over as many nodes as there are"},
      {"run.gpus", "list of integers", "[1, 2, 4]", "powers of two in a node, then whole nodes doubling", "the rows of the table"},
      {"run.epochs", "number", "90", "1", "epochs of the whole run"},
      {"run.startup", "time", "\"60 s\"", "0 s", "once per run: imports, NCCL, first step"},
      {"run.every.validation.epochs", "number", "1", "1", "how often the periodic work happens; the table may have any name"},
      {"run.every.validation.duration", "time", "\"30 s\"", "required", "how long it takes each time"},
      {"loop.non_blocking", "true, false", "false", "true",
       "inputs are copied asynchronously; otherwise the host waits for the GPU at each batch"},
      {"loop.loss_item_every", "integer", "10", "0", "steps between `loss.item()` calls, at which the host waits for the GPU; 0 = never"},
      {"loop.loss_item_before_backward", "true, false", "true", "false", "`loss.item()` stands between forward and backward"},
      {"loop.zero_grad", "none, set_to_none, zero", "\"zero\"", "set_to_none",
       "what happens to old gradients; PyTorch before 2.0 fills them with zeros"},
      {"loop.overhead", "time", "\"300 us\"", "0 s", "the script's own host time per step on the reference core: hooks, progress bar"},
      {"measured.gpus", "integer", "1", "1", "GPUs of a measured run, to which the model is scaled"},
      {"measured.samples_per_s", "number", "325.95", "none", "its throughput over all GPUs; one of samples_per_s, step, epoch"},
      {"measured.step", "time", "\"98 ms\"", "none", "its step time"},
      {"measured.epoch", "time", "\"20 min\"", "none", "its epoch time; needs data.samples"},
  };
  return keys;
}

}  // namespace foretrain

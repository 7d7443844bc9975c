// One row per key, in the order of the tables; the options of strategies come from their catalog.
#include "sim/scenario/sections/scenario_keys.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// The kind of an option's values in words.
struct KindOf {
  std::string operator()(KnobValue<Bytes>) const { return "size"; }
  std::string operator()(KnobValue<Time>) const { return "time"; }
  std::string operator()(KnobValue<int>) const { return "integer"; }
  std::string operator()(KnobValue<std::int64_t>) const { return "integer"; }
  std::string operator()(KnobValue<double>) const { return "number"; }
  std::string operator()(KnobValue<bool>) const { return "true, false"; }
  std::string operator()(KnobValue<FrameworkVersion>) const { return "version"; }
  std::string operator()(const KnobChoice& choice) const {
    return fmt::format("{}", fmt::join(choice.names, ", "));
  }
};

ScenarioKey key_of_knob(const Knob& knob) {
  return {fmt::format("strategy.{}", knob.name), std::visit(KindOf{}, knob.value), std::string(knob.example),
          std::string(knob.fallback), std::string(knob.meaning)};
}

/// Every option once, with all strategies that have it.
void add_knobs(std::vector<ScenarioKey>& keys) {
  for (const Knob& knob : shared_knobs()) keys.push_back(key_of_knob(knob));
  const std::size_t first = keys.size();
  for (const StrategyEntry& strategy : strategy_catalog()) {
    for (const Knob& knob : strategy.knobs) {
      ScenarioKey key = key_of_knob(knob);
      const auto known = std::find_if(keys.begin() + static_cast<std::ptrdiff_t>(first), keys.end(),
                                      [&](const ScenarioKey& k) { return k.name == key.name; });
      if (known == keys.end()) {
        key.strategies.emplace_back(strategy.name);
        keys.push_back(std::move(key));
      } else {
        known->strategies.emplace_back(strategy.name);
      }
    }
  }
}

const std::vector<ScenarioKey>& keys_before_options() {
  static const std::vector<ScenarioKey> keys{
      {"note", "text", "\"from the tutorial\"", "none", "shown under the table"},
      {"model.name", "name or path", "\"resnet50\"", "required", "a network of models/ or a file"},
      {"model.precision", "fp32, tf32, amp_fp16, bf16, fp8", "\"fp32\"", "fp32",
       "fp32 is PyTorch's default: TF32 inside convolutions since Ampere; amp_fp16 is autocast with a "
       "GradScaler"},
      {"model.half_weights", "true, false", "true", "false",
       "16-bit precisions: weights and gradients are 16-bit too, with fp32 master weights (Apex O2, "
       "DeepSpeed), instead of autocast"},
      {"model.batch_per_gpu", "integer", "32", "32", "samples per GPU and micro-step: weak scaling"},
      {"model.global_batch", "integer", "256", "none",
       "samples per step over all GPUs: strong scaling; excludes batch_per_gpu"},
      {"model.optimizer", "sgd, momentum, nesterov, adam, adamw, adadelta, adagrad, rmsprop, lamb", "\"sgd\"",
       "sgd", "which kernels update the parameters"},
      {"model.optimizer_form", "foreach, for_loop, fused", "\"foreach\"", "the framework's",
       "one kernel per tensor and operation, multi-tensor launches (PyTorch's default since 2.0; before, "
       "for_loop), or one pass"},
      {"model.weight_decay", "true, false", "true", "false",
       "one more pass over the parameters; in TensorFlow an L2 term of every layer's weights in the loss"},
      {"framework.name", "pytorch, tensorflow", "\"tensorflow\"", "pytorch",
       "whose host costs, kernels and defaults"},
      {"framework.version", "version", "\"1.11\"", "PyTorch 2.3, TensorFlow 2.15",
       "PyTorch before 2.0 runs optimizers as for_loop and fills gradients with zeros; Keras before "
       "TensorFlow 2.2 reads each batch's "
       "results"},
      {"framework.execution", "eager, graph, compiled, cuda_graphs", "\"compiled\"",
       "eager in PyTorch, graph in TensorFlow",
       "a host call per operator, a graph's executor, torch.compile or XLA, or the whole step in one launch"},
      {"framework.layout", "channels_first, channels_last", "\"channels_last\"",
       "channels_last where compiled, else channels_first",
       "images in memory; 16-bit convolutions on tensor cores want channels last"},
      {"data.name", "name or path", "\"imagenet\"", "none",
       "a data set of datasets/ or a file; the keys below replace its values"},
      {"data.samples", "integer", "1_281_167", "unknown",
       "per epoch, over all GPUs; without it an epoch is one step"},
      {"data.sample_bytes", "size", "\"588 KiB\"", "input in fp32 plus label",
       "what is copied to the GPU per sample"},
      {"data.decode", "time", "\"1.6 ms\"", "0 s",
       "reading and augmenting one sample on the reference core (Zen 5); multiplied by the cluster's "
       "host.slowdown"},
      {"data.stored_bytes", "size", "\"110 kB\"", "sample_bytes",
       "what is read from storage per sample: the size of a JPEG file"},
      {"data.decode_spread", "number", "0.5", "0", "standard deviation of decode over samples / its mean"},
      {"data.storage", "none, page_cache, nvme, lustre, nfs", "\"lustre\"", "none",
       "where samples are read from; none: they are in memory or made on the spot"},
      {"data.cached", "true, false", "false", "whether all fit into 80 % of a node's memory",
       "from the second epoch on samples come from the page cache; steps are those of later epochs"},
      {"data.loader", "torch, tf_data, dali_cpu, dali_gpu, none", "\"dali_gpu\"",
       "torch; none when [data] says nothing of a loader",
       "worker processes of PyTorch, threads of TensorFlow or of DALI (dali_gpu: the GPU decodes); none: "
       "batches lie on the GPU"},
      {"data.workers_per_gpu", "integer", "10", "4; one thread per core for tf_data and DALI",
       "loader processes or threads per GPU; 0 loads in the main thread"},
      {"data.prefetch", "integer", "2", "2",
       "batches each worker runs ahead; for tf_data and DALI batches of all threads together"},
      {"data.cores_per_gpu", "integer", "10", "the node's cores divided by its GPUs",
       "CPU cores of the job per GPU (cpus-per-task), which the workers and the script share"},
      {"data.pinned", "true, false", "true", "true",
       "pin_memory: batches are copied through page-locked memory"},
      {"data.persistent_workers", "true, false", "true", "false",
       "workers are not started anew for each epoch"},
      {"data.drop_last", "true, false", "true", "false", "the last partial batch is left out"},
      {"data.sampler", "distributed, none, local_rank", "\"none\"", "distributed",
       "each process trains on its share of the data set; none: each on all of it; local_rank: all nodes on "
       "the same shares"},
      {"strategy.name", "a strategy", "\"ddp\"", "ddp", "see `foretrain list strategies`"},
  };
  return keys;
}

const std::vector<ScenarioKey>& keys_behind_options() {
  static const std::vector<ScenarioKey> keys{
      {"nccl.version", "version", "\"2.18.3\"", "2.20.5",
       "NCCL's; what PyTorch 2.3 and 2.4 bring along when it is not given"},
      {"nccl.algorithm", "tree, ring, collnetdirect, collnetchain, nvls, nvlstree, pat", "\"ring\"",
       "NCCL's choice by size", "NCCL_ALGO"},
      {"nccl.protocol", "ll, ll128, simple", "\"simple\"", "NCCL's choice by size", "NCCL_PROTO"},
      {"nccl.min_channels", "integer", "8", "NCCL's", "NCCL_MIN_NCHANNELS, NCCL_MIN_CTAS"},
      {"nccl.max_channels", "integer", "16", "NCCL's", "NCCL_MAX_NCHANNELS, NCCL_MAX_CTAS"},
      {"nccl.nvls", "true, false", "false", "true", "NCCL_NVLS_ENABLE: NVSwitches reduce, where they can"},
      {"nccl.collnet", "true, false", "true", "false",
       "NCCL_COLLNET_ENABLE: the fabric's switches reduce, where they can"},
      {"nccl.gdr", "true, false", "false", "the cluster's",
       "GPUDirect RDMA; false: messages between nodes go through host memory"},
      {"nccl.p2p", "true, false", "false", "true",
       "false is NCCL_P2P_DISABLE=1: GPUs of a node exchange through host memory"},
      {"nccl.pxn", "true, false", "false", "true",
       "false is NCCL_PXN_DISABLE=1: no relay over NVLink to a GPU nearer to the NIC"},
      {"nccl.cross_nic", "never, always, auto", "\"never\"", "auto",
       "NCCL_CROSS_NIC: a ring may leave a node over another NIC than it came in"},
      {"nccl.threads", "integer", "256", "NCCL's", "NCCL_NTHREADS: threads of a channel's block"},
      {"nccl.buffer", "size", "\"4 MiB\"", "4 MiB", "NCCL_BUFFSIZE: of each connection, Simple protocol"},
      {"launch.with", "torchrun, mp_spawn, srun, mpirun, horovodrun, deepspeed, python", "\"srun\"",
       "what the strategy needs",
       "what starts the processes, and what its own start costs; python starts one, which with one process "
       "per GPU leaves the others idle"},
      {"launch.processes_per_node", "integer", "1",
       "one per GPU; one for strategies whose process drives several GPUs",
       "fewer than the strategy needs leave GPUs idle; of `collective` 1 is one process that launches for "
       "all GPUs (nccl-tests -g N)"},
      {"cluster.name", "name or path", "\"puhti\"", "required", "a cluster of topologies/ or a file"},
      {"cluster.calibration", "name, path or none", "\"none\"", "that of the cluster's file",
       "what was measured on it (`foretrain calibrate fit`); none: data sheets and the measurements of "
       "others"},
      {"cluster.layout", "packed, spread", "\"packed\"", "packed",
       "fill node after node, or spread the ranks over as many nodes as there are"},
      {"run.gpus", "list of integers", "[1, 2, 4]", "powers of two in a node, then whole nodes doubling",
       "the rows of the table"},
      {"run.epochs", "number", "90", "1", "epochs of the whole run"},
      {"run.startup", "time", "\"60 s\"", "computed",
       "once per run: imports, CUDA, NCCL, compilation, first step; docs/models/epoch.md"},
      {"run.every.validation.epochs", "number", "1", "1",
       "how often the periodic work happens; the table may have any name"},
      {"run.every.validation.duration", "time", "\"30 s\"", "none",
       "how long it takes each time; one of duration, samples, bandwidth"},
      {"run.every.validation.samples", "integer", "50_000", "none",
       "or: a forward pass over so many samples, shared by all GPUs"},
      {"run.every.validation.batch_per_gpu", "integer", "100", "the training's", "of that pass"},
      {"run.every.validation.bandwidth", "rate", "\"1 GBps\"", "none",
       "or: rank 0 writes weights and optimizer state at this rate; a table named checkpoint does so by "
       "default, at 1 GBps"},
      {"loop.non_blocking", "true, false", "false", "true",
       "inputs are copied asynchronously; otherwise the host waits for the GPU at each batch"},
      {"loop.loss_item_every", "integer", "10", "0",
       "steps between `loss.item()` calls, at which the host waits for the GPU; 0 = never"},
      {"loop.loss_item_before_backward", "true, false", "true", "false",
       "`loss.item()` stands between forward and backward"},
      {"loop.zero_grad", "none, set_to_none, zero", "\"zero\"", "set_to_none",
       "what happens to old gradients; PyTorch before 2.0 fills them with zeros by default"},
      {"loop.metrics", "none, accuracy", "\"accuracy\"", "none",
       "top-1 and top-5 counted on the GPU and read by two more `.item()`, in the steps that read the loss"},
      {"loop.clip_grad_norm", "none, on_device, read_back", "\"on_device\"", "none",
       "gradients are clipped to a norm; read_back: the script also reads that norm, at which the host waits "
       "for the GPU"},
      {"loop.hooks", "none, lightning, huggingface, keras, gradient_noise", "\"lightning\"",
       "none; keras in TensorFlow",
       "the trainer around the step, which costs the host some hundred microseconds; gradient_noise also "
       "measures the noise of the "
       "gradients (AdaptDL)"},
      {"loop.progress_bar", "true, false", "true", "false",
       "Lightning's and Keras' bar shows the loss, for which the host waits in every step"},
      {"loop.profiler", "none, line", "\"line\"", "none",
       "a line profiler (kernprof) sees every line of Python"},
      {"loop.overhead", "time", "\"300 us\"", "0 s",
       "the script's own host time per step on the reference core, besides the above"},
      {"measured.gpus", "integer", "1", "1", "GPUs of a measured run, to which the model is scaled"},
      {"measured.reused_batch", "true, false", "true", "false",
       "the measured run trained on one batch again and again (synthetic data): the anchor is fitted without "
       "the input pipeline"},
      {"measured.samples_per_s", "number", "325.95", "none",
       "its throughput over all GPUs; one of samples_per_s, step, epoch"},
      {"measured.step", "time", "\"98 ms\"", "none", "its step time"},
      {"measured.epoch", "time", "\"20 min\"", "none", "its epoch time; needs data.samples"},
      {"measured.scales", "compute, host, input", "\"host\"", "what bounds the step",
       "which part of the model the measurement corrects"},
      {"study.batch", "list", "[32, 64]", "none",
       "a study: every combination of the values in [study] is a line of one table; model.global_batch if "
       "the scenario has one, else "
       "model.batch_per_gpu. Any other key of a scenario stands there in quotes, as in \"data.prefetch\" = "
       "[2, 4]"},
      {"study.gpus", "list", "[1, 2, 4]", "run.gpus", "run.gpus, one number each"},
      {"study.strategy", "list", "[\"dp\", \"ddp\"]", "none",
       "strategy.name; options that one of them does not have are left out for it"},
      {"study.model", "list", "[\"resnet18\", \"resnet50\"]", "none", "model.name"},
      {"study.cluster", "list", "[\"puhti\", \"mahti\"]", "none", "cluster.name"},
      {"study.precision", "list", "[\"fp32\", \"amp_fp16\"]", "none", "model.precision"},
      {"study.optimizer", "list", "[\"sgd\", \"adam\"]", "none", "model.optimizer"},
      {"study.workers", "list", "[0, 2, 4]", "none", "data.workers_per_gpu"},
      {"study.cores", "list", "[2, 6]", "none", "data.cores_per_gpu"},
      {"study.accumulation", "list", "[1, 4]", "none", "strategy.accumulation"},
      {"study.execution", "list", "[\"eager\", \"compiled\"]", "none", "framework.execution"},
      {"study.launch", "list", "[\"torchrun\", \"python\"]", "none", "launch.with"},
  };
  return keys;
}

}  // namespace

const std::vector<ScenarioKey>& scenario_keys() {
  static const std::vector<ScenarioKey> keys = [] {
    std::vector<ScenarioKey> all = keys_before_options();
    add_knobs(all);
    all.insert(all.end(), keys_behind_options().begin(), keys_behind_options().end());
    return all;
  }();
  return keys;
}

}  // namespace foretrain

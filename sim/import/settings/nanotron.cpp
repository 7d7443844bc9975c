// nanotron's YAML: src/nanotron/config/config.py and parallelism_config.py.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/settings/readers.hpp"

namespace foretrain {

namespace {

constexpr KeyRule kNanotronRules[] = {
    {"parallelism.recompute_layer", KeyReads::unmodelled, {}, "forward passes run again in backward"},
    {"parallelism.moe_layer_recompute", KeyReads::unmodelled, {}, "forward passes run again in backward"},
    {"parallelism.tp_recompute_allgather", KeyReads::nothing, {}, "of tensor parallel"},
    {"parallelism.tp_linear_async_communication", KeyReads::nothing, {}, "of tensor parallel"},
    {"parallelism.tp_mode", KeyReads::nothing, {}, "of tensor parallel"},
    {"parallelism.pp_engine", KeyReads::nothing, {}, "of pipelines"},
    {"optimizer.accumulate_grad_in_fp32",
     KeyReads::unmodelled,
     {},
     "gradients are added up and exchanged in 32 bit"},
    {"optimizer.optimizer_factory.*", KeyReads::nothing, {}, "numbers of the optimizer"},
    {"optimizer.*", KeyReads::nothing, {}, "learning rates"},
    {"profiler.*", KeyReads::unmodelled, {}, "a profiler slows the step"},
    {"model.ddp_bucket_cap_mb", KeyReads::mebibytes, "strategy.bucket_cap"},
    {"model.*", KeyReads::nothing, {}, "the network; --model NAME says which"},
    {"tokens.*", KeyReads::nothing, {}, "the length of the run and of its sequences"},
    {"data_stages", KeyReads::nothing, {}, "the data set"},
    {"data_stages.*", KeyReads::nothing, {}, "the data set"},
    {"data.num_loading_workers", KeyReads::integer, "data.workers_per_gpu"},
    {"data.*", KeyReads::nothing, {}, "the data set"},
    {"general.*", KeyReads::nothing},
    {"checkpoints.*", KeyReads::nothing, {}, "[run.every.checkpoint] says how often"},
    {"logging.*", KeyReads::nothing},
    {"tokenizer.*", KeyReads::nothing},
    {"lighteval.*", KeyReads::nothing},
    {"s3_upload.*", KeyReads::nothing},
    {"metrics_logging.*", KeyReads::nothing}};

void read_nanotron_degrees(SettingsReading& reading) {
  const auto dp = reading.integer({"parallelism.dp"}, 1, 1'000'000);
  std::int64_t all = dp.value_or(1);
  if (dp) reading.fate(KeyFate::usual, "data parallel");
  struct NanotronDegree {
    const char *path, *what;
    bool multiplies;
  };
  for (const NanotronDegree& degree :
       {NanotronDegree{"parallelism.tp", "tensor parallel", true},
        NanotronDegree{"parallelism.pp", "pipeline parallel", true},
        NanotronDegree{"parallelism.context_parallel_size", "context parallel", true},
        NanotronDegree{"parallelism.expert_parallel_size", "expert parallel", false}}) {
    const auto value = reading.integer({degree.path}, 1, 100'000);
    if (!value) continue;
    put_parallelism(reading, *value, degree.what);
    if (degree.multiplies) all = std::min<std::int64_t>(all * *value, 1'000'000);
  }
  if (!dp) return;
  reading.out().processes = static_cast<int>(all);
  const int gpus = reading.context().gpus;
  if (gpus > 0 && gpus != all)
    return reading.mistake_at("parallelism.dp",
                              fmt::format("dp x tp x pp are {} GPUs; there are {}", all, gpus),
                              "nanotron stops at that");
  reading.effect_of("parallelism.dp", {{"run.gpus", gpu_list(all)}}, "dp x tp x pp GPUs");
}

}  // namespace

bool is_nanotron(const YamlNode& tree) {
  return tree.at("parallelism").kind == YamlNode::Kind::map && tree.at("tokens").kind == YamlNode::Kind::map;
}

void read_nanotron(SettingsReading& reading) {
  read_nanotron_degrees(reading);
  if (const auto batch = reading.integer({"tokens.micro_batch_size"}, 1, 1'000'000))
    reading.effect({{"model.batch_per_gpu", std::to_string(*batch)}});
  if (const auto steps = reading.integer({"tokens.batch_accumulation_per_replica"}, 1, 4096))
    reading.effect({{"strategy.accumulation", std::to_string(*steps)}});
  const auto stage = reading.integer({"optimizer.zero_stage"}, 0, 1);
  if (stage)
    reading.effect({{"strategy.name", *stage == 0 ? "\"ddp\"" : "\"zero1\""}},
                   *stage == 0 ? "" : "predicted as DeepSpeed's stage 1, which all-reduces");
  else
    reading.by_default("stage 0: DistributedDataParallel", {{"strategy.name", "\"ddp\""}});
  if (const auto type = reading.word({"model.dtype"})) {
    if (!put_precision(reading, *type, true)) reading.mistake(fmt::format("\"{}\" is no dtype", *type));
  }
  const bool fused = reading.flag({"optimizer.optimizer_factory.torch_adam_is_fused"}).value_or(false);
  if (const auto name = reading.word({"optimizer.optimizer_factory.name", "optimizer.optimizer_factory"})) {
    if (!put_optimizer(reading, *name)) reading.fate(KeyFate::not_modelled, "no optimizer that is known");
  }
  if (fused)
    reading.effect_of("optimizer.optimizer_factory.torch_adam_is_fused",
                      {{"model.optimizer_form", "\"fused\""}});
  if (const auto norm = reading.number({"optimizer.clip_grad"}))
    reading.effect({{"loop.clip_grad_norm", *norm > 0 ? "\"on_device\"" : "\"none\""}});
  if (const auto decay = reading.number({"optimizer.weight_decay"}))
    reading.effect({{"model.weight_decay", toml_flag(*decay != 0)}});
  reading.apply(kNanotronRules);
}

}  // namespace foretrain

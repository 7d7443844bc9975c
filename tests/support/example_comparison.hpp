// A comparison with round numbers, for tests of its reports.
#pragma once

#include "sim/analysis/answer/compare_answer.hpp"
#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/strategy_matrix.hpp"

namespace foretrain::test {

/// A strategy on four GPUs with a batch of 32 each.
inline ComparedStrategy compared_strategy(std::string name, double step_s, std::vector<StepPart> parts) {
  ComparedStrategy row{std::move(name), "", {}, std::move(parts)};
  PredictionPoint& p = row.point;
  p.gpus = 4, p.batch_per_gpu = 32, p.global_batch = 128, p.step_s = step_s, p.epoch_s = 1000 * step_s,
  p.total_s = 2000 * step_s;
  p.samples_per_s = 128 / step_s, p.speedup = 0.4 / step_s, p.efficiency = p.speedup / 4;
  p.breakdown[static_cast<std::size_t>(Account::exposed_communication)] = step_s - 0.1;
  p.memory.parameters = {2'000'000'000}, p.memory_capacity = {32'000'000'000};
  p.largest_batch = 512;
  return row;
}

/// Four GPUs: ddp at 100 ms, horovod 2.1 ms behind, data_parallel at 125 ms and too large, mirrored not at
/// all.
inline Comparison example_comparison() {
  Comparison c;
  c.scenario = "example", c.model = c.training = "resnet50", c.cluster = "puhti", c.precision = "fp32",
  c.own_strategy = "ddp";
  c.baseline = "the plain loop on one GPU";
  c.samples = 128'000, c.epochs = 2, c.one_gpu_step_s = 0.1;
  c.strategies = {"data_parallel", "ddp", "horovod", "mirrored"};
  ComparedStrategy ddp = compared_strategy(
      "ddp", 0.1,
      {{"forward and backward kernels", 0.09}, {"optimizer", 0.0096}, {"buffer broadcast", 0.0004}});
  ComparedStrategy horovod =
      compared_strategy("horovod", 0.1021, {{"forward and backward kernels", 0.0925}, {"optimizer", 0.0096}});
  horovod.standing = Standing::not_told_apart, horovod.ratio = 0.979, horovod.ratio_range = {0.91, 1.04};
  horovod.against_best = {
      {"forward and backward kernels", 0.0025}, {"buffer broadcast", -0.0004}, {"optimizer", 0}};
  ComparedStrategy parallel =
      compared_strategy("data_parallel", 0.125, {{"forward and backward kernels", 0.125}});
  parallel.against_best = {
      {"forward and backward kernels", 0.035}, {"optimizer", -0.0096}, {"buffer broadcast", -0.0004}};
  parallel.point.memory_capacity = {1'000'000'000};
  parallel.standing = Standing::does_not_fit, parallel.ratio = 0.8, parallel.ratio_range = {0.7, 0.9};
  ComparedStrategy mirrored{
      "mirrored", "mirrored is one process, which cannot drive GPUs of 2 nodes", {}, {}};
  mirrored.standing = Standing::cannot_run;
  c.numbers = {{4, 2, {ddp, horovod, parallel, mirrored}, "ddp"}};
  c.numbers.front().answer = answer_of(c.numbers.front(), "ddp", std::nullopt, true);
  c.decisions.add("anchor", "kernels x 1.100", "measured with ddp");
  c.warnings = {"something to know"};
  c.note = "Made up.";
  return c;
}

inline StrategyMatrix example_matrix() {
  StrategyMatrix m{4, {"resnet50", "spiral_mlp"}, {"puhti", "mahti"}, {"single", "ddp", "horovod"}, {}};
  m.choices = {{"resnet50", "puhti", "ddp", "horovod", 0.1, 3.9, 0.98, true, 2},
               {"resnet50", "mahti", "horovod", "ddp", 0.05, 3.5, 0.995, true},
               {"spiral_mlp", "puhti", "ddp", "", 0.002, 2, 0, true},
               {"spiral_mlp", "mahti", "ddp", "horovod", 0.001, 1.5, 0.5, false}};
  return m;
}

}  // namespace foretrain::test

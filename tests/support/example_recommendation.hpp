// A recommendation and a sensitivity with round numbers, for tests of the reports.
#pragma once

#include <string>
#include <utility>

#include "sim/analysis/prediction.hpp"

namespace foretrain::test {

/// DDP with a batch of 32 per GPU on nodes of four; its interval is a quarter to both sides.
inline JobOption example_job(int gpus, double hours, double speedup, double kwh, double cost,
                             std::string trade) {
  JobOption job;
  PredictionPoint& p = job.point;
  job.strategy = "ddp", job.partition = "gpu", job.workers_per_gpu = 10;
  p.gpus = gpus, p.nodes = (gpus + 3) / 4, p.batch_per_gpu = 32, p.global_batch = 32 * gpus;
  p.total_s = 3600 * hours, p.total_interval = {0.75 * p.total_s, 1.25 * p.total_s, 0.9};
  p.speedup = speedup, p.efficiency = speedup / gpus;
  job.gpu_hours = gpus * hours, job.energy_kwh = kwh, job.cost = cost, job.trade = std::move(trade);
  job.time_limit_s = 5400 * hours, job.time_to_result_s = p.total_s;
  return job;
}

/// Eight GPUs for 12.5 hours; 16 would be faster, one cheaper and three days longer.
inline Recommendation example_recommendation() {
  Recommendation r;
  r.cost_unit = "BU";
  r.best = example_job(8, 12.5, 6.4, 27.5, 6000, "");
  r.runners_up = {example_job(16, 7.5, 10.7, 33, 7200, "40 % less time and 20 % more BU"),
                  example_job(1, 80, 1, 0, 4800, "6.4 times the time and 20 % fewer BU")};
  r.notes = {
      "up to 132 samples per GPU fit; a larger batch trains differently and is not recommended for speed "
      "alone"};
  JobPlan& plan = r.plan;
  plan.name = "resnet50", plan.model = "resnet50", plan.cluster = "puhti", plan.strategy = "ddp";
  plan.partition = "gpu", plan.gpu_type = "v100";
  plan.nodes = 2, plan.gpus_per_node = 4, plan.processes_per_node = 4, plan.cores_per_node = 40;
  plan.memory_per_node = {345'600'000'000};
  plan.time_limit_s = 18.75 * 3600;
  plan.workers_per_gpu = 10, plan.batch_per_gpu = 32, plan.global_batch = 256, plan.epochs = 90;
  return r;
}

/// 12.5 hours, which kernels move most.
inline Sensitivity example_sensitivity() {
  Sensitivity s;
  s.gpus = 8, s.total_s = 45'000, s.interval = {36'000, 56'250, 0.9};
  s.bars = {{"kernel times", "assumed", 38'000, 54'000, 0.8},
            {"network bandwidth", "assumed", 43'000, 48'000, 0.2}};
  s.narrowed = {{"one step on one GPU", 42'000, 48'500}};
  return s;
}

}  // namespace foretrain::test

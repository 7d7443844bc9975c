// A study with round numbers, for tests of its reports.
#pragma once

#include "sim/analysis/search/study.hpp"

namespace foretrain::test {

inline StudyRow study_row(StudyPoint values, int gpus, double step_s) {
  StudyRow row{std::move(values), "", gpus, {}};
  PredictionPoint& p = row.point;
  p.gpus = gpus, p.batch_per_gpu = 64, p.global_batch = 64 * gpus, p.step_s = step_s,
  p.steps_per_epoch = 1000 / gpus;
  p.epoch_s = 1000 * step_s / gpus, p.total_s = 10 * p.epoch_s, p.gpu_hours = p.total_s * gpus / 3600;
  p.samples_per_s = 64 * gpus / step_s, p.speedup = gpus * 0.1 / step_s, p.efficiency = p.speedup / gpus;
  p.interval = {step_s / 2, step_s * 2, 0.9};
  p.breakdown[static_cast<std::size_t>(Account::compute)] = 0.04;
  p.breakdown[static_cast<std::size_t>(Account::host)] = step_s - 0.04;
  p.memory.parameters = {2'000'000'000}, p.memory_capacity = {32'000'000'000}, p.largest_batch = 512;
  return row;
}

/// Strategies on one, two and four GPUs with an option that only ddp has; DataParallel does not run on four.
inline StudyResult example_study() {
  const Value dp{"dp", {}}, ddp{"ddp", {}}, cap{"1 MiB", {}}, nothing{};
  const auto gpus = [](std::int64_t n) { return Value{n, {}}; };
  StudyResult study;
  study.scenario = "example", study.model = "resnet50", study.cluster = "puhti", study.strategy = "ddp",
  study.precision = "fp32";
  study.axes = {{"strategy", "strategy.name", {}, {dp, ddp}},
                {"strategy.bucket_cap", "strategy.bucket_cap", {}, {cap}},
                {"gpus", "run.gpus", {}, {gpus(1), gpus(2), gpus(4)}}};
  study.samples = 64'000;
  study.rows = {
      study_row({dp, nothing, gpus(1)}, 1, 0.1),
      study_row({dp, nothing, gpus(2)}, 2, 0.16),
      {{dp, nothing, gpus(4)}, "data_parallel is one process, which cannot drive GPUs of 2 nodes", 4, {}},
      study_row({ddp, cap, gpus(1)}, 1, 0.1),
      study_row({ddp, cap, gpus(2)}, 2, 0.125),
      study_row({ddp, cap, gpus(4)}, 4, 0.125)};
  study.rows[1].point.memory_capacity = {1'000'000'000};
  study.fastest = 5, study.cheapest = 0;
  study.decisions.add("dp, -, 1: all_reduce 26.3 MB", "ring, Simple", "LL would take 3 ms");
  study.warnings = {"something to know"};
  study.note = "Made up.";
  return study;
}

}  // namespace foretrain::test

// A prediction with round numbers, for tests of the reports.
#pragma once

#include "sim/analysis/prediction.hpp"

namespace foretrain::test {

/// One and eight GPUs: a step of 100 and 125 ms, so a speedup of 6.4 and an efficiency of 80 %.
inline Prediction example_prediction() {
  Prediction p;
  p.scenario = "example", p.model = "resnet50", p.cluster = "puhti", p.strategy = "ddp", p.precision = "fp32";
  p.cluster_gpus = 320, p.samples = 1'280'000;
  PredictionPoint one, eight;
  one.gpus = 1, one.nodes = 1, one.batch_per_gpu = 32, one.global_batch = 32, one.steps_per_epoch = 40'000;
  one.step_s = 0.1, one.epoch_s = 4000, one.total_s = 360'000, one.samples_per_s = 320, one.gpu_hours = 100;
  one.interval = {0.08, 0.125, 0.9}, one.epoch_interval = {3200, 5000, 0.9},
  one.total_interval = {288'000, 450'000, 0.9};
  one.speedup_range = {1, 1}, one.chance_of_gain = 0;
  one.breakdown = {0.09, 0, 0, 0.005, 0.005, 0};
  one.memory.parameters = {102'000'000}, one.memory.activations = {7'898'000'000},
  one.memory_capacity = {32'000'000'000};
  eight.gpus = 8, eight.nodes = 2, eight.batch_per_gpu = 32, eight.global_batch = 256,
  eight.steps_per_epoch = 5000;
  eight.step_s = 0.125, eight.epoch_s = 625, eight.total_s = 56'250, eight.samples_per_s = 2048,
  eight.gpu_hours = 125;
  eight.speedup = 6.4, eight.efficiency = 0.8;
  eight.interval = {0.1, 0.15625, 0.9}, eight.epoch_interval = {500, 781, 0.9},
  eight.total_interval = {45'000, 70'000, 0.9};
  eight.speedup_range = {5.5, 6.8}, eight.chance_of_gain = 0.97;
  eight.breakdown = {0.0925, 0.015, 0, 0.005, 0.005, 0.0075};
  eight.memory = one.memory, eight.memory_capacity = {9'000'000'000};
  one.largest_batch = 132, eight.largest_batch = 24;
  eight.overhead = {10, 20, 240, 30, 0};
  eight.buckets = {{8'196'000}, {26'255'360}};
  p.points = {one, eight};
  p.crossover.fastest_gpus = 320;
  p.crossover.efficiency_below_90 = 8, p.crossover.slower_than_fewer = {{5, 7}};
  p.crossover.worth_requesting = {{0.9, 4, 4}, {0.8, 4, 8}, {0.7, 320, 320}, {0.5, 320, 320}};
  p.crossover.causes = {{5, 0.04, {{"exposed communication over the network (ib)", 0.04, 1}}},
                        {8,
                         0.025,
                         {{"exposed communication over the network (ib)", 0.015, 0.6},
                          {"copies of gradients and buffers", 0.0075, 0.3},
                          {"the slowest GPU sets the pace", 0.0025, 0.1}}}};
  p.crossover_spread = {288, 320, 0.04, 200, 320};
  p.crossover.searched = 320, p.crossover.numbers = 83, p.crossover.simulated = 60;
  p.crossover.cause = "compute bounds the step";
  p.answer.verdict = "On 8 GPUs, 90 epochs take about 16 h (12 to 19 h): 6.4 times faster than one GPU.";
  p.answer.question = "resnet50 on puhti with ddp, fp32, batch 32 per GPU, on 1 and 8 GPUs";
  p.answer.gpus = 8, p.answer.quantity = "total", p.answer.value_s = 56'250;
  p.answer.interval = eight.total_interval;
  p.answer.counts = {1, 8}, p.answer.rows = p.points;
  p.answer.causes = StepCauses{8,
                               0.125,
                               {{{Removable::links},
                                 "communication over the network (ib)",
                                 "if the network (ib) took no time",
                                 0.11,
                                 0.015}},
                               {{Removable::links, 0.015}, {Removable::other, 0.0075}},
                               0.1025};
  p.answer.cause = "Communication over the network (ib): 15 ms of the step.";
  p.answer.action = "Further GPUs still pay.";
  p.answer.assumptions = {{"fp32", "--precision NAME"}};
  p.decisions.add("all_reduce 26.3 MB", "ring, Simple", "LL would take 3 ms");
  p.warnings = {"a step trains on 8 times as many samples as on one GPU"};
  p.note = "Made up.";
  return p;
}

/// The same, but eight GPUs have less memory than the training needs.
inline Prediction example_shortage() {
  Prediction p = example_prediction();
  p.points[1].memory_capacity = {7'000'000'000};
  p.warnings = {"8 GPUs: about 8 GB are needed per GPU, it has 7 GB"};
  return p;
}

/// The same as example_prediction(), but nobody said how many samples the data set has.
inline Prediction example_without_samples() {
  Prediction p = example_prediction();
  p.samples = 0;
  for (PredictionPoint& point : p.points) point.knows_epochs = false;
  return p;
}

/// The same, and eight GPUs asked for what would make them beat one.
inline Prediction example_break_even() {
  Prediction p = example_prediction();
  BreakEven b;
  b.gpus = 8, b.speedup = 0.8;
  b.batch = {.now = 32, .at = 48, .limit = 65536};
  b.width.why_not = "resnet50 has a layer of type timed, whose size does not follow a width";
  b.epoch_samples = {.now = 1'280'000, .limit = 1e12};
  b.link = "the network (ib)", b.link_bytes_per_s = 12.5e9;
  b.bandwidth = {.now = 1, .at = 2, .limit = 64};
  b.fastest = {.now = 1, .at = 4, .limit = 64};
  b.fastest_now = 4, b.fastest_then = 16;
  p.break_even = b;
  return p;
}

}  // namespace foretrain::test

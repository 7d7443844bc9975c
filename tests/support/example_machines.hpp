// Machines with round figures, for tests of the verdict and of the reports.
#pragma once

#include "sim/analysis/search/machines.hpp"

namespace foretrain::test {

/// A machine that runs the training in `hours`, with an interval of a fifth either way.
inline MachineRow machine_row(std::string cluster, std::string gpu, int gpus, double hours) {
  MachineRow row{.cluster = std::move(cluster), .gpu = std::move(gpu), .gpus = gpus, .nodes = 1};
  PredictionPoint point;
  point.gpus = gpus, point.nodes = 1, point.step_s = hours / 10, point.samples_per_s = 1000 / hours;
  point.memory.parameters = {2'000'000'000}, point.memory_capacity = {32'000'000'000};
  row.point = point;
  row.time_s = 3600 * hours, row.time = {3600 * hours / 1.2, 3600 * hours * 1.2, 0.9};
  row.gpu_hours = gpus * hours, row.energy_kwh = 0.3 * gpus * hours;
  return row;
}

inline MachineRow impossible_row(std::string cluster, std::string gpu, int gpus, std::string why_not) {
  MachineRow row{.cluster = std::move(cluster), .gpu = std::move(gpu), .gpus = gpus};
  row.why_not = std::move(why_not);
  return row;
}

/// One V100 in an hour, two P100 in 96 minutes, and a cluster that is too small.
inline MachineComparison example_machines() {
  MachineComparison c;
  c.scenario = "example", c.model = c.training = "resnet50", c.strategy = "ddp", c.precision = "fp32";
  c.batch = 64, c.samples = 50'000, c.epochs = 30;
  c.rows = {machine_row("m3-p100", "p100-pcie-16gb", 2, 1.6),
            impossible_row("one-gpu", "rtx-2080ti", 2, "cluster one-gpu has 1 GPU"),
            machine_row("m3-v100", "v100-pcie-16gb", 1, 1)};
  c.warnings = {"m3-p100: the learning rate has to follow"};
  c.measured = {"Measured on m3-v100: 100 ms on 1 GPU"};
  return c;
}

}  // namespace foretrain::test

// Warnings about predictions beyond the largest measured jobs. A test compares the table with the file of
// measurements.
#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/uncertainty/uncertainty.hpp"

namespace foretrain {

namespace {

/// Returns the row of a strategy; nullptr where no job of it on several GPUs was measured.
const MeasuredJobs* find(std::string_view strategy) {
  const auto& rows = measured_jobs();
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const MeasuredJobs& row) { return row.strategy == strategy; });
  return found == rows.end() ? nullptr : &*found;
}

/// Returns the sentence on the first point that is larger than every measured job; empty if there is none.
std::string about_size(const MeasuredJobs& measured, const std::vector<PredictionPoint>& points) {
  const auto beyond = std::find_if(points.begin(), points.end(), [&](const PredictionPoint& p) {
    return p.gpus > measured.gpus || p.nodes > measured.nodes;
  });
  if (beyond == points.end()) return {};
  return fmt::format("from {} GPUs on {} nodes on: the largest measured jobs of {} have {} GPUs or {} nodes",
                     beyond->gpus, beyond->nodes, measured.strategy, measured.gpus, measured.nodes);
}

}  // namespace

/// The largest numbers of GPUs and of nodes by strategy; they may come from different jobs.
const std::vector<MeasuredJobs>& measured_jobs() {
  static const std::vector<MeasuredJobs> rows{{"ddp", 128, 16},
                                              {"horovod", 64, 8},
                                              {"mirrored", 32, 4},
                                              {"zero0", 8, 2},
                                              {"parameter_server", 256, 16},
                                              {"multi_worker_mirrored", 32, 4}};
  return rows;
}

std::vector<std::string> extrapolations(const Scenario& scenario,
                                        const std::vector<PredictionPoint>& points) {
  std::vector<std::string> out;
  if (scenario.cluster.node.gpu.architecture == Architecture::cpu)
    out.emplace_back("no training on CPUs has been measured");
  if (scenario.workload.precision == Precision::fp8) out.emplace_back("no training in fp8 has been measured");
  const bool is_parallel = !points.empty() && points.back().gpus > 1;
  const MeasuredJobs* measured = find(scenario.strategy);
  if (is_parallel && measured == nullptr)
    out.push_back(fmt::format("no job of {} on several GPUs has been measured", scenario.strategy));
  if (measured == nullptr) return out;
  if (std::string size = about_size(*measured, points); !size.empty()) out.push_back(std::move(size));
  return out;
}

}  // namespace foretrain

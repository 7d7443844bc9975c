// Steps as a trace for Perfetto or chrome://tracing (Trace Event Format, JSON; docs/models/step.md).
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Work of one pass through a layer on one GPU, in FLOPs and bytes.
struct LayerWork {
  double forward_flops = 0, forward_bytes = 0, backward_flops = 0, backward_bytes = 0;
  /// Bytes that forward keeps for backward.
  double kept_bytes = 0;
};

/// A rank of a trace: its tasks, their times, and further facts.
struct TracedRank {
  const TaskGraph& graph;
  const Timeline& timeline;
  /// Last task of each step on the GPU.
  std::vector<TaskId> step_ends;
  /// Labels of tasks that belong to a layer.
  std::vector<std::string> layers;
  /// Work of each layer; may be empty.
  std::vector<LayerWork> work{};
  std::vector<RecordedLink> links{};
  std::string name = "rank 0";
  /// Bytes that the GPU holds all the time; 0: unknown, so that no memory is shown.
  double lasting_bytes = 0;
};

/// The content of a trace: the last `steps` steps of each rank. `notes` say what was left out and stand
/// beside the events.
struct TraceRequest {
  int steps = 3;
  std::vector<std::string> notes{};
};

/// Returns the trace. Each rank is a process, and so are the links of its node; each queue with any task is a
/// thread. Times are in microseconds with six decimals, which is the clock's tick of 1 ps. Events are in
/// order of time.
std::string write_chrome_trace(const std::vector<TracedRank>& ranks, const TraceRequest& request = {});

/// Returns the trace of a recording. Ranks of data parallelism share `memory`, the memory of one of their
/// GPUs; links of a node are limited in number. Pipeline stages are written by write_parallel_trace()
/// (parallel_trace.hpp).
std::string write_trace(const StepRecording& recorded, const Scenario& scenario, const MemoryUse& memory,
                        int steps);  // trace_file.cpp

/// Returns the work of each layer for this batch.
std::vector<LayerWork> layer_work(const ExpandedModel& model, double batch);

}  // namespace foretrain

// Steps as a trace for Perfetto or chrome://tracing (Trace Event Format, JSON; docs/models/trace.md).
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// What one pass of a layer comes to on one GPU.
struct LayerWork {
  double forward_flops = 0, forward_bytes = 0, backward_flops = 0, backward_bytes = 0;
  double kept_bytes = 0;  ///< for backward
};

/// A rank of a trace: tasks, times, and what is known beyond them.
struct TracedRank {
  const TaskGraph& graph;
  const Timeline& timeline;
  std::vector<TaskId> step_ends;    ///< last task of each step on the GPU
  std::vector<std::string> layers;  ///< labels of tasks that are a layer's
  std::vector<LayerWork> work{};    ///< by layer, or empty
  std::vector<RecordedLink> links{};
  std::string name = "rank 0";
  double lasting_bytes = 0;  ///< what the GPU holds all the time; 0: unknown, and no memory is shown
};

/// Shows the last `steps` steps of each rank. Events stand in the order of their times; `notes` say what was
/// left out and stand beside them.
struct TraceRequest {
  int steps = 3;
  std::vector<std::string> notes{};
};

/// One process per rank and one for the links of its node, one thread per queue on which something takes
/// time; microseconds with six decimals, which is the clock's tick.
std::string write_chrome_trace(const std::vector<TracedRank>& ranks, const TraceRequest& request = {});

/// The trace of what was recorded. Of ranks the same, the links of a node bounded, `memory` that of one of
/// their GPUs; of stages write_parallel_trace() (parallel_trace.hpp).
std::string write_trace(const StepRecording& recorded, const Scenario& scenario, const MemoryUse& memory,
                        int steps);  // trace_file.cpp

/// Work by layer of a batch.
std::vector<LayerWork> layer_work(const ExpandedModel& model, double batch);

}  // namespace foretrain

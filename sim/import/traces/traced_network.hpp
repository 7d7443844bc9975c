// A recorded step of one GPU becomes a network with measured times: docs/models/traces.md.
#pragma once

#include "sim/import/models/model_file.hpp"
#include "sim/import/traces/trace_file.hpp"
#include "sim/import/traces/trace_steps.hpp"

namespace foretrain {

/// A file with `[recorded]`: of the typical step, without what a strategy adds to it. Throws InputError with
/// every reason why it cannot be made, and what to do.
ImportedModel traced_network(const Trace& trace, const ModelImportOptions& options);
/// Sizes but no times.
ImportedModel traced_network(const ExecutionTrace& trace, const ModelImportOptions& options);
/// The same for a prediction of the recorded run itself: what the profiler added stays with each operator,
/// and what it added to calls of DDP and the optimizer with the operators beside them.
ImportedModel profiled_network(const Trace& trace, const ModelImportOptions& options, double& slowdown);
ImportedModel traced_network(const TraceFile& file, const ModelImportOptions& options);

}  // namespace foretrain

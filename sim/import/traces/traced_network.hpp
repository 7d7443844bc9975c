// Declares how a recorded step of one GPU becomes a network with measured times: docs/models/imports.md.
#pragma once

#include "sim/import/models/model_file.hpp"
#include "sim/import/traces/trace_file.hpp"
#include "sim/import/traces/trace_steps.hpp"

namespace foretrain {

/// Returns a model file with `[recorded]` of the typical step, without what a strategy adds to it. Throws
/// InputError with every reason why it cannot be made, and what to do.
ImportedModel traced_network(const Trace& trace, const ModelImportOptions& options);
/// Returns the same of an execution trace: sizes, but no times.
ImportedModel traced_network(const ExecutionTrace& trace, const ModelImportOptions& options);
/// Returns the same for a prediction of the recorded run itself. What the profiler added stays with each
/// operator; what it added to calls of DDP and the optimizer is added to the operators beside them.
/// `slowdown` is set to that of the recording host.
ImportedModel profiled_network(const Trace& trace, const ModelImportOptions& options, double& slowdown);
/// Returns the network of whichever trace the file has.
ImportedModel traced_network(const TraceFile& file, const ModelImportOptions& options);

}  // namespace foretrain

// Declares how a trace becomes a log of measurements: the collectives of a training, for `calibrate`.
#pragma once

#include "sim/import/logs/log_hints.hpp"
#include "sim/import/traces/trace.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// Returns a sample for each kind, size and group of collectives in the trace, with the shortest time: in the
/// others the rank waited for other ranks. A trace has one rank's view, so the number of nodes comes from the
/// hints. Collectives without size or ranks are noted as skipped.
SampleFile trace_samples(const Trace& trace, const LogHints& hints);

}  // namespace foretrain

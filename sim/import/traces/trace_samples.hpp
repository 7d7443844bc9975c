// A trace as a log of measurements: the collectives of a training, for `calibrate`.
#pragma once

#include "sim/import/logs/log_hints.hpp"
#include "sim/import/traces/trace.hpp"
#include "sim/scenario/csv/samples.hpp"

namespace foretrain {

/// A sample for each kind, size and group of collectives that the trace tells: the shortest time, since in
/// the others a rank waited for the others. Nodes are those of the hints where the trace has one rank's view.
SampleFile trace_samples(const Trace& trace, const LogHints& hints);

}  // namespace foretrain
